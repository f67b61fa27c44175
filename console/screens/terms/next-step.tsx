// The next step of a term, with what it will do. Posting asks for the sum, typed.
import { Button, Checkbox, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { DataOf } from '../../../sdk/client.ts';
import { api } from '../../api/client.ts';
import { queries } from '../../api/queries/base.ts';
import { watchJobs } from '../../api/queries/jobs.ts';
import { readyIn, termQuery } from '../../api/queries/terms.ts';
import { mayUse } from '../../api/session.ts';
import { useMoney } from '../../parts/amount.tsx';
import type { StepKey } from '../../parts/steps.tsx';
import { StepRefusal } from './due-date.tsx';

type TermData = DataOf<'getBillTerm'>;
type Props = { term: TermData['term']; summary: TermData['summary']; isBusy: boolean };

const steps = {
  generate: { permission: 'bills:write', run: api.generateBills },
  post: { permission: 'bills:post', run: api.postBills },
  publish: { permission: 'bills:post', run: api.publishBills },
  distribute: { permission: 'bills:distribute', run: api.distributeBills },
} as const;
type RunStep = keyof typeof steps & StepKey;

const nextAfter: Record<string, RunStep> = {
  Created: 'generate',
  ReadingsUploaded: 'generate',
  ReadingsPosted: 'generate',
  ComponentsPosted: 'generate',
  Generating: 'generate',
  Generated: 'post',
  Posting: 'post',
  Posted: 'publish',
  Publishing: 'publish',
  Published: 'distribute',
  Distributing: 'distribute',
};

export function NextStep(props: Props) {
  const { t } = useTranslation();
  const { term, isBusy } = props;
  const [isOpen, { open, close }] = useDisclosure();
  const next = term.stale ? 'generate' : nextAfter[term.stage];
  if (!next || !mayUse(steps[next].permission)) return null;
  return (
    <>
      {next === 'post' && mayUse(steps.generate.permission) && (
        <StepButton step="generate" {...props} variant="default" />
      )}
      {next === 'post' ? (
        <Button onClick={open} disabled={isBusy}>
          {t('next.post')}
        </Button>
      ) : (
        <StepButton step={next} {...props} variant="filled" />
      )}
      <Modal
        opened={isOpen}
        onClose={close}
        title={t('post.title')}
        closeButtonProps={{ 'aria-label': t('close') }}
      >
        <PostForm {...props} onDone={close} />
      </Modal>
    </>
  );
}

function useStep(
  step: RunStep,
  termID: number,
  { check, onDone }: { check?: () => Promise<void>; onDone?: () => void } = {},
) {
  return useMutation({
    mutationFn: async (data: { acceptDueDate?: true; skipErrors?: true }) => {
      await check?.();
      return steps[step].run({ operation: 'schedule', data: { termID, ...data } });
    },
    onMutate: watchJobs,
    onSuccess: onDone ?? (() => undefined),
    onSettled: () => queries.invalidateQueries(),
  });
}

function StepButton({
  step,
  term,
  isBusy,
  variant,
}: Props & { step: RunStep; variant: 'default' | 'filled' }) {
  const { t } = useTranslation();
  const running = useStep(step, term.termID);
  return (
    <Stack gap="xs">
      <Button
        variant={variant}
        loading={running.isPending}
        disabled={isBusy}
        onClick={() => running.mutate({})}
      >
        {t(`next.${step}`)}
      </Button>
      {running.isError && (
        <StepRefusal
          error={running.error}
          term={term}
          onAccept={() => running.mutate({ acceptDueDate: true })}
          onChanged={() => running.reset()}
        />
      )}
    </Stack>
  );
}

function PostForm({ term, summary, onDone }: Props & { onDone: () => void }) {
  const { t } = useTranslation();
  const { money } = useMoney();
  const [typed, setTyped] = useState('');
  const [isLeaving, setLeaving] = useState(false);
  const { bills, charges } = readyIn(summary);
  const sum = money(charges);
  const left = summary.errors + summary.onHold;
  const isRight = digitsOf(typed) === digitsOf(sum) && typed !== '';
  const isReady = isRight && (left === 0 || isLeaving);
  const skip = left === 0 ? {} : ({ skipErrors: true } as const);
  const posting = useStep('post', term.termID, {
    onDone,
    check: async () => {
      const now = await readyNow(term.termID);
      const sumNow = money(now.charges);
      if (now.bills === bills && digitsOf(sumNow) === digitsOf(typed)) return;
      throw new Error(t('post.changed', { bills: now.bills, sum: sumNow }));
    },
  });
  return (
    <Stack>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) posting.mutate(skip);
        }}
      >
        <Stack>
          <Text size="sm">{t('post.what', { bills, sum, due: term.dueDate })}</Text>
          {left > 0 && (
            <Checkbox
              label={t('post.leave', { count: left })}
              description={t('post.left', { errors: summary.errors, onHold: summary.onHold })}
              checked={isLeaving}
              onChange={(event) => setLeaving(event.currentTarget.checked)}
            />
          )}
          <TextInput
            label={t('post.type', { sum })}
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            error={typed !== '' && !isRight ? t('post.other') : undefined}
            inputMode="decimal"
            data-autofocus
          />
          <Group justify="flex-end">
            <Button type="submit" disabled={!isReady} loading={posting.isPending}>
              {t('post.confirm', { bills, sum })}
            </Button>
          </Group>
        </Stack>
      </form>
      {posting.isError && (
        <StepRefusal
          error={posting.error}
          term={term}
          onAccept={() => posting.mutate({ ...skip, acceptDueDate: true })}
          onChanged={onDone}
        />
      )}
    </Stack>
  );
}

/** The page may have been open for hours: what was confirmed is compared with the term of now. */
async function readyNow(termID: number) {
  const { summary } = await queries.fetchQuery({
    ...termQuery(termID),
    staleTime: 0,
    // A person who confirmed a sum does not wait for a server that is away.
    retry: false,
  });
  return readyIn(summary);
}

/** A person may leave out the currency and the grouping. */
function digitsOf(text: string): string {
  return text.replace(/[^\d.-]/g, '').replace(/\.$/, '');
}
