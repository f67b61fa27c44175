// Saves data of one kind as a CSV file.
import { NativeSelect, SimpleGrid, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import type { RequestOf } from '../../../sdk/client.ts';
import { api } from '../../api/client.ts';
import { mayUse } from '../../api/session.ts';
import { toWire } from '../../parts/days.ts';
import { offerFile } from '../../parts/download.ts';
import { SendForm } from '../../parts/send-form.tsx';

type Kind = RequestOf<'exportData'>['kind'];

/** Each kind with its permission, and whether it can be narrowed to some days. */
const kinds: Record<Kind, { permission: string; isDated: boolean }> = {
  Parties: { permission: 'parties:read', isDated: false },
  Meters: { permission: 'meters:read', isDated: false },
  Subscriptions: { permission: 'subscriptions:read', isDated: false },
  Readings: { permission: 'readings:read', isDated: true },
  Bills: { permission: 'bills:read', isDated: true },
  Journals: { permission: 'ledger:read', isDated: true },
  Audit: { permission: 'audit:read', isDated: true },
  Statement: { permission: 'payments:read', isDated: true },
  Aging: { permission: 'ledger:read', isDated: true },
  Collection: { permission: 'ledger:read', isDated: true },
  Revenue: { permission: 'ledger:read', isDated: true },
  TaxSummary: { permission: 'ledger:read', isDated: true },
  Consumption: { permission: 'ledger:read', isDated: true },
  UnreadMeters: { permission: 'ledger:read', isDated: true },
  BillRegister: { permission: 'ledger:read', isDated: true },
};

export function ExportFile() {
  const { t } = useTranslation();
  const offered = (Object.keys(kinds) as Kind[]).filter((kind) => mayUse(kinds[kind].permission));
  const form = useForm({
    initialValues: { kind: offered[0] ?? 'Meters', fromDate: '', toDate: '', partyNumber: '' },
  });
  const { kind } = form.values;
  const send = async ({ fromDate, toDate, partyNumber }: typeof form.values) => {
    const { isDated } = kinds[kind];
    const { data } = await api.exportData({
      kind,
      ...(isDated && fromDate !== '' ? { fromDate: toWire(fromDate) } : {}),
      ...(isDated && toDate !== '' ? { toDate: toWire(toDate) } : {}),
      ...(kind === 'Statement' ? { partyNumber: Number(partyNumber) } : {}),
    });
    const lines = data.lines.map((line) => `${line}\r\n`);
    offerFile(`${t(`fileKind.${kind}`)}.csv`, lines);
    form.resetDirty();
  };
  return (
    <Stack maw={560}>
      <SendForm form={form} send={send} action={t('export.save')}>
        <NativeSelect
          label={t('files.kind')}
          data={offered.map((value) => ({ value, label: t(`fileKind.${value}`) }))}
          {...form.getInputProps('kind')}
        />
        {kind === 'Statement' && (
          <TextInput
            label={t('export.party')}
            required
            inputMode="numeric"
            {...form.getInputProps('partyNumber')}
          />
        )}
        {kinds[kind].isDated && (
          <SimpleGrid cols={{ base: 1, xs: 2 }}>
            <TextInput type="date" label={t('export.from')} {...form.getInputProps('fromDate')} />
            <TextInput type="date" label={t('export.to')} {...form.getInputProps('toDate')} />
          </SimpleGrid>
        )}
      </SendForm>
    </Stack>
  );
}
