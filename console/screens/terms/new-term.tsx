// Creates a term: the service, the batch and the days that it bills.
import { Group, NativeSelect, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { batchesQuery } from '../../api/queries/settings.ts';
import { today } from '../../api/session.ts';
import { monthBefore, toWire } from '../../parts/days.ts';
import { DialogButton } from '../../parts/dialog.tsx';
import { Empty, Loading, Refusal } from '../../parts/notes.tsx';
import { SendForm } from '../../parts/send-form.tsx';

export function NewTerm() {
  const { t } = useTranslation();
  const batches = useQuery(batchesQuery);
  return (
    <DialogButton label={t('newTerm.title')}>
      {() => {
        if (batches.isPending) return <Loading />;
        if (batches.isLoadingError) return <Refusal error={batches.error} />;
        if (batches.data.length === 0) {
          return <Empty title={t('newTerm.noBatch')}>{t('newTerm.noBatchHint')}</Empty>;
        }
        return <Form batches={batches.data} />;
      }}
    </DialogButton>
  );
}

type Batch = { serviceCode: string; batchCode: string; label: string };
type Fields = { batch: string; label: string; startDate: string; endDate: string; dueDate: string };

function Form({ batches }: { batches: readonly Batch[] }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const form = useForm({ initialValues: { ...lastMonth(), batch: keyOf(batches[0]) } });
  const send = ({ batch, label, startDate, endDate, dueDate }: Fields) => {
    const { serviceCode = '', batchCode = '' } = batches.find((one) => keyOf(one) === batch) ?? {};
    const days = { startDate: toWire(startDate), endDate: toWire(endDate) };
    const due = dueDate === '' ? {} : { dueDate: toWire(dueDate) };
    const data = { serviceCode, batchCode, label, ...days, ...due };
    return api.makeTerm({ operation: 'schedule', data });
  };
  return (
    <SendForm
      form={form}
      send={send}
      action={t('newTerm.make')}
      onDone={({ headers }) =>
        navigate({
          to: '/terms/$termID',
          params: { termID: headers.get('x-term-id') ?? '' },
        })
      }
    >
      <NativeSelect
        label={t('newTerm.batch')}
        data={batches.map((one) => ({
          value: keyOf(one),
          label: `${one.serviceCode} · ${one.batchCode} · ${one.label}`,
        }))}
        {...form.getInputProps('batch')}
      />
      <TextInput label={t('terms.label')} required {...form.getInputProps('label')} />
      <Group grow align="flex-start">
        <TextInput
          type="date"
          label={t('newTerm.start')}
          required
          {...form.getInputProps('startDate')}
        />
        <TextInput
          type="date"
          label={t('newTerm.end')}
          required
          {...form.getInputProps('endDate')}
        />
      </Group>
      <TextInput
        type="date"
        label={t('terms.due')}
        description={t('newTerm.dueHint')}
        {...form.getInputProps('dueDate')}
      />
    </SendForm>
  );
}

function keyOf(batch: Batch | undefined): string {
  return batch ? `${batch.serviceCode} ${batch.batchCode}` : '';
}

/** The month before this one, which is what most operators bill. */
function lastMonth(): Fields {
  const { start, end } = monthBefore(today());
  const format = new Intl.DateTimeFormat('en', {
    month: 'short',
    year: 'numeric',
    timeZone: 'UTC',
  });
  const label = format.format(new Date(start));
  return { batch: '', label, startDate: start, endDate: end, dueDate: '' };
}
