// Saves what was typed as a new version, effective from a day on.
import { Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useTranslation } from 'react-i18next';
import { BillingError } from '../../../sdk/client.ts';
import { api } from '../../api/client.ts';
import type { Plan } from '../../api/queries/plans.ts';
import { today } from '../../api/session.ts';
import { toWire } from '../../parts/days.ts';
import { DialogButton } from '../../parts/dialog.tsx';
import { SendForm } from '../../parts/send-form.tsx';
import { headOf, type PlanDraft, pricingOf } from './plan-draft.ts';

type Props = {
  plan: Plan;
  draft: PlanDraft;
  isDirty: boolean;
  onSaved: () => Promise<void>;
  /** Another person saved since the plan was read. */
  onStale: () => Promise<void>;
};

export function SavePlan(props: Props) {
  const { t } = useTranslation();
  return (
    <DialogButton label={t('save.title')} disabled={!props.isDirty}>
      {(close) => <Form {...props} onDone={close} />}
    </DialogButton>
  );
}

function Form({ plan, draft, onSaved, onStale, onDone }: Props & { onDone: () => void }) {
  const { t } = useTranslation();
  const form = useForm({ initialValues: { effectiveDate: today() } });
  const version = (plan.version ?? 1) + 1;
  const send = async ({ effectiveDate }: { effectiveDate: string }) => {
    try {
      const { message } = await api.updateTariff({
        tariff: {
          serviceCode: plan.serviceCode,
          code: plan.tariffCode,
          ...headOf(draft),
          ...pricingOf(draft),
          effectiveDate: toWire(effectiveDate),
          ...(plan.ts === undefined ? {} : { ts: plan.ts }),
        },
      });
      notifications.show({
        message,
        color: 'teal',
        closeButtonProps: { 'aria-label': t('close') },
      });
      await onSaved();
    } catch (error) {
      if (!(error instanceof BillingError && error.code === 'STALE_OBJECT')) throw error;
      await onStale();
    }
  };
  return (
    <SendForm
      form={form}
      send={send}
      action={t('save.action', { version })}
      onDone={onDone}
      isReady={form.values.effectiveDate !== ''}
    >
      <Text size="sm">{t('save.hint', { count: plan.connCount })}</Text>
      <TextInput
        type="date"
        label={t('save.from')}
        data-autofocus
        {...form.getInputProps('effectiveDate')}
      />
    </SendForm>
  );
}
