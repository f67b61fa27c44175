// Billing periods: how often plans, groups and terms bill.
import { NativeSelect, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { periodPages } from '../../api/queries/admin.ts';
import { mayUse } from '../../api/session.ts';
import { DialogButton } from '../../parts/dialog.tsx';
import { List } from '../../parts/list.tsx';
import { Empty } from '../../parts/notes.tsx';
import { SendForm } from '../../parts/send-form.tsx';

const units = ['Day', 'Week', 'Month', 'Year'] as const;

export function Periods() {
  const { t } = useTranslation();
  return (
    <List
      pages={periodPages}
      columns={[
        { key: 'name', label: t('customers.name'), show: (period) => period.name },
        {
          key: 'length',
          label: t('periods.length'),
          show: ({ count, unit }) => t(`periodLength.${unit}`, { count }),
        },
        {
          key: 'months',
          label: t('periods.months'),
          isFigure: true,
          show: (period) => period.months,
        },
        { key: 'description', label: t('plans.description'), show: (one) => one.description },
      ]}
      rowKey={(period) => period.billingPeriodID}
      label={t('settings.tabs.periods')}
      empty={<Empty title={t('periods.none')} />}
      tools={
        mayUse('contexts:write') && (
          <DialogButton label={t('periods.new')}>
            {(close) => <NewPeriod onDone={close} />}
          </DialogButton>
        )
      }
    />
  );
}

function NewPeriod({ onDone }: { onDone: () => void }) {
  const { t } = useTranslation();
  const form = useForm({
    initialValues: { name: '', unit: 'Month' as (typeof units)[number], count: '1', months: '1' },
  });
  return (
    <SendForm
      form={form}
      send={({ count, ...rest }) =>
        api.makePeriods({ periods: [{ ...rest, unit: rest.unit as never, count: Number(count) }] })
      }
      action={t('periods.make')}
      onDone={onDone}
    >
      <TextInput label={t('customers.name')} required {...form.getInputProps('name')} />
      <TextInput label={t('periods.count')} inputMode="numeric" {...form.getInputProps('count')} />
      <NativeSelect
        label={t('periods.unit')}
        data={units.map((value) => ({ value, label: t(`unit.${value}`) }))}
        {...form.getInputProps('unit')}
      />
      <TextInput
        label={t('periods.months')}
        description={t('periods.monthsHint')}
        {...form.getInputProps('months')}
      />
    </SendForm>
  );
}
