// How a service bills and is paid: period, who gets one bill, settlement, wallet, deposit, late
// charge, rounding, prepaid balances, and the rules that hold bills back.
import {
  Button,
  Card,
  Checkbox,
  Group,
  NativeSelect,
  SimpleGrid,
  TextInput,
  Title,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { periodsQuery } from '../../api/queries/groups.ts';
import { type DraftForm, Items } from './items.tsx';
import type { ServiceDraft } from './service-draft.ts';

const choicesOf = {
  chargingType: ['Postpaid', 'Prepaid'],
  postType: ['Post Subscription', 'Post Account', 'Post Party'],
  postBilling: ['1', '0'],
  paymentSettlementMethod: [
    'Chronology',
    'Component Priority',
    'Latest First',
    'Proportional',
    'Manual',
  ],
  lateFeeBasis: ['BillAmount', 'UnpaidAmount'],
  roundingMode: ['', 'HalfUp', 'HalfEven', 'Up', 'Down', 'Ceiling', 'Floor'],
} as const;

type Props = { form: DraftForm };

export function Billing({ form }: Props) {
  const { t } = useTranslation();
  const { data: periods = [] } = useQuery(periodsQuery);
  return (
    <Part title={t('services.billing')}>
      <Choice form={form} name="chargingType" />
      <Choice form={form} name="postType" />
      <NativeSelect
        label={t('services.billingCycle')}
        data={periods.map((one) => ({ value: String(one.billingPeriodID), label: one.name }))}
        {...form.getInputProps('billingCycle')}
      />
      <Choice form={form} name="postBilling" />
      <Choice form={form} name="roundingMode" />
      {form.values.roundingMode !== '' && (
        <TextInput
          label={t('services.roundingScale')}
          inputMode="numeric"
          {...form.getInputProps('roundingScale')}
        />
      )}
      <Switch form={form} name="archived" />
    </Part>
  );
}

export function Paying({ form, mails }: Props & { mails: { value: string; label: string }[] }) {
  const { t } = useTranslation();
  const amount = (name: keyof ServiceDraft) => (
    <TextInput label={t(`services.${name}`)} inputMode="decimal" {...form.getInputProps(name)} />
  );
  return (
    <>
      <Part title={t('services.paying')}>
        <Choice form={form} name="paymentSettlementMethod" />
        <Choice form={form} name="lateFeeBasis" />
        {amount('securityDeposit')}
        {amount('reconnectionLimit')}
        <Switch form={form} name="autoApplyWallet" />
        <Switch form={form} name="requireDeposit" />
        <Switch form={form} name="reconnect" />
      </Part>
      {form.values.chargingType === 'Prepaid' && (
        <Part title={t('services.prepaid')}>
          {amount('prepaidLowBalance')}
          <NativeSelect
            label={t('services.prepaidTemplate')}
            data={[{ value: '', label: '' }, ...mails]}
            {...form.getInputProps('prepaidTemplate')}
          />
          {amount('prepaidGraceDays')}
          <Switch form={form} name="prepaidDisconnect" />
        </Part>
      )}
    </>
  );
}

/** Formulas that keep a draft from being posted until a person has looked at it. */
export function HoldRules({ form }: Props) {
  const { t } = useTranslation();
  const { ownHolds } = form.values;
  return (
    <Items
      title={t('services.holdRules')}
      hint={t('services.holdRulesHint')}
      add={t('services.addHoldRule')}
      onAdd={() => {
        form.setFieldValue('ownHolds', true);
        form.insertListItem('holdRules', { name: '', when: '', reason: '' });
      }}
    >
      <Switch form={form} name="ownHolds" />
      {ownHolds &&
        form.values.holdRules.map((rule, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a new rule has no other name yet.
          <Group key={index} align="flex-end" gap="xs">
            {(['name', 'when', 'reason'] as const).map((name) => (
              <TextInput
                key={name}
                size="xs"
                label={t(`services.hold_${name}`)}
                {...(name === 'name' ? {} : { flex: '1 1 220px' })}
                {...form.getInputProps(`holdRules.${index}.${name}`)}
              />
            ))}
            <Button
              size="xs"
              variant="default"
              onClick={() => form.removeListItem('holdRules', index)}
              aria-label={t('definitions.removeOf', { name: rule.name })}
            >
              {t('services.removeStep')}
            </Button>
          </Group>
        ))}
    </Items>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Card withBorder component="section" aria-label={title}>
      <Title order={2} size="h4" mb="xs">
        {title}
      </Title>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>{children}</SimpleGrid>
    </Card>
  );
}

function Choice({ form, name }: Props & { name: keyof typeof choicesOf }) {
  const { t } = useTranslation();
  return (
    <NativeSelect
      label={t(`services.${name}`)}
      data={choicesOf[name].map((value) => ({
        value,
        label: t(`serviceChoice.${value === '' ? 'none' : `${name}_${value}`}`),
      }))}
      {...form.getInputProps(name)}
    />
  );
}

type Flag = {
  [Name in keyof ServiceDraft]: ServiceDraft[Name] extends boolean ? Name : never;
}[keyof ServiceDraft];

function Switch({ form, name }: Props & { name: Flag }) {
  const { t } = useTranslation();
  return (
    <Checkbox label={t(`services.${name}`)} {...form.getInputProps(name, { type: 'checkbox' })} />
  );
}
