// Why a step was refused. Where the due date is too early, it is changed here, or kept on purpose.
import { Button, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { BillingError, type DataOf } from '../../../sdk/client.ts';
import { api } from '../../api/client.ts';
import { mayUse } from '../../api/session.ts';
import { toField, toWire } from '../../parts/days.ts';
import { Refusal } from '../../parts/notes.tsx';
import { SendForm } from '../../parts/send-form.tsx';

type Term = DataOf<'getBillTerm'>['term'];

export function StepRefusal({
  error,
  term,
  onAccept,
  onChanged,
}: {
  error: unknown;
  term: Term;
  /** Sends the step again, with the due date as it is. */
  onAccept: () => void;
  /** The due date was changed: the step is to be taken again. */
  onChanged: () => void;
}) {
  const { t } = useTranslation();
  const isTooEarly = error instanceof BillingError && error.code === 'DUE_DATE_TOO_EARLY';
  if (!isTooEarly) return <Refusal error={error} />;
  const earliest = String(error.error.allowed?.[0] ?? term.dueDate);
  const isPosted = term.status === 'Posted';
  return (
    <Stack gap="sm">
      <Refusal error={error} />
      {mayUse('terms:write') && <NewDueDate term={term} earliest={earliest} onDone={onChanged} />}
      <Button variant="default" onClick={onAccept}>
        {isPosted ? t('dueDate.keepPublish') : t('dueDate.keep')}
      </Button>
    </Stack>
  );
}

/** Drafts carry the due date of their term: they are generated again. */
function NewDueDate({
  term,
  earliest,
  onDone,
}: {
  term: Term;
  earliest: string;
  onDone: () => void;
}) {
  const { t } = useTranslation();
  const { termID, status } = term;
  const isDraft = status === 'Open';
  const form = useForm({ initialValues: { dueDate: toField(earliest) } });
  const send = async ({ dueDate }: { dueDate: string }) => {
    await api.updateTerm({ data: { termID, dueDate: toWire(dueDate) } });
    if (isDraft) await api.generateBills({ operation: 'schedule', data: { termID } });
  };
  return (
    <SendForm
      form={form}
      send={send}
      action={isDraft ? t('dueDate.again') : t('dueDate.change')}
      done={t('dueDate.changed')}
      onDone={onDone}
    >
      <TextInput type="date" label={t('dueDate.new')} required {...form.getInputProps('dueDate')} />
    </SendForm>
  );
}
