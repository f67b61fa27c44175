// The next step of a term, with what it will do. Posting asks for the sum, typed.
import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { DataOf } from '../../../sdk/client.ts';
import { api } from '../../api/client.ts';
import { queries } from '../../api/queries/base.ts';
import { watchJobs } from '../../api/queries/jobs.ts';
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

function useStep(step: RunStep, termID: number, onDone?: () => void) {
  return useMutation({
    mutationFn: (data: { acceptDueDate?: true }) =>
      steps[step].run({ operation: 'schedule', data: { termID, ...data } }),
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
  const posting = useStep('post', term.termID, onDone);
  const sum = money(summary.currentCharges);
  const isRight = digitsOf(typed) === digitsOf(sum) && typed !== '';
  return (
    <Stack>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isRight) posting.mutate({});
        }}
      >
        <Stack>
          <Text size="sm">{t('post.what', { bills: summary.bills, sum, due: term.dueDate })}</Text>
          {summary.errors + summary.onHold > 0 && (
            <Text size="sm">
              {t('post.left', { errors: summary.errors, onHold: summary.onHold })}
            </Text>
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
            <Button type="submit" disabled={!isRight} loading={posting.isPending}>
              {t('post.confirm', { bills: summary.bills, sum })}
            </Button>
          </Group>
        </Stack>
      </form>
      {posting.isError && (
        <StepRefusal
          error={posting.error}
          term={term}
          onAccept={() => posting.mutate({ acceptDueDate: true })}
          onChanged={onDone}
        />
      )}
    </Stack>
  );
}

/** A person may leave out the currency and the grouping. */
function digitsOf(text: string): string {
  return text.replace(/[^\d.-]/g, '').replace(/\.$/, '');
}
