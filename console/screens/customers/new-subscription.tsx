// A new subscription of a customer: its plan, and what the service asks of each subscription.
import { NativeSelect, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { type Service, servicesQuery } from '../../api/queries/plans.ts';
import { serviceQuery } from '../../api/queries/services.ts';
import { plansQuery } from '../../api/queries/subscriptions.ts';
import { today } from '../../api/session.ts';
import { ActionForm, type FieldSpec, type Typed } from '../../parts/action-dialog.tsx';
import { DialogButton } from '../../parts/dialog.tsx';
import { Empty, Loading, Refusal } from '../../parts/notes.tsx';

type Props = { partyID: number; close: () => void };

export function NewSubscription({ partyID }: { partyID: number }) {
  const { t } = useTranslation();
  return (
    <DialogButton label={t('subscription.new')} variant="default">
      {(close) => <ServiceChoice partyID={partyID} close={close} />}
    </DialogButton>
  );
}

function ServiceChoice(props: Props) {
  const { t } = useTranslation();
  const services = useQuery(servicesQuery);
  const [chosen, choose] = useState('');
  if (services.isPending) return <Loading />;
  if (services.isLoadingError) return <Refusal error={services.error} />;
  const open = services.data.filter((one) => one.archiveStatus === 0);
  const service = open.find((one) => one.serviceCode === chosen) ?? open[0];
  if (!service) {
    return <Empty title={t('newPlan.noService')}>{t('newPlan.noServiceHint')}</Empty>;
  }
  return (
    <Stack gap="sm">
      <NativeSelect
        label={t('terms.service')}
        data={open.map((one) => ({ value: one.serviceCode, label: one.serviceLabel }))}
        value={service.serviceCode}
        onChange={(event) => choose(event.currentTarget.value)}
      />
      <Details key={service.serviceCode} serviceCode={service.serviceCode} {...props} />
    </Stack>
  );
}

/** The list names services; what one asks of its subscriptions is read for itself. */
function Details({ serviceCode, ...props }: Props & { serviceCode: string }) {
  const service = useQuery(serviceQuery(serviceCode));
  const plans = useQuery(plansQuery(serviceCode));
  if (service.isPending || plans.isPending) return <Loading />;
  const failed = [service, plans].find((query) => query.isLoadingError);
  if (failed || !service.data) return <Refusal error={failed?.error} />;
  return <Form service={service.data} plans={plans.data ?? []} {...props} />;
}

type Plans = { label: string; tariffCode: string; planType?: string; uniqueLabel: string }[];

function Form({ service, plans, partyID, close }: Props & { service: Service; plans: Plans }) {
  const { t } = useTranslation();
  const isBase = (plan: Plans[number]) => (plan.planType ?? 'BASE_PLAN') === 'BASE_PLAN';
  const bases = plans.filter(isBase);
  if (bases.length === 0) {
    return <Empty title={t('subscription.noPlan')}>{t('subscription.noPlanHint')}</Empty>;
  }
  const addOns = plans.filter(({ planType }) => planType === 'ADDON_PLAN');
  const batches = (service.batches ?? []).filter((one) => one.archiveStatus !== 1);
  const fields: Record<string, FieldSpec> = {
    tariffCode: {
      label: t('customer.plan'),
      kind: 'choice',
      choices: bases.map((plan) => ({ value: plan.tariffCode, label: plan.label })),
    },
    ...(batches.length > 0 && {
      batchCode: {
        label: t('subscription.batch'),
        kind: 'choice',
        choices: batches.map(({ batchCode, label }) => ({
          value: batchCode,
          label: label || batchCode,
        })),
      } as const,
    }),
    connectionDate: { label: t('subscription.effective'), kind: 'date', initial: today() },
    ...asked(service, t('subscription.noChoice')),
    ...(addOns.length > 0 && {
      addOn: {
        label: t('subscription.addOn'),
        kind: 'choice',
        choices: [
          { value: '', label: t('subscription.noChoice') },
          ...addOns.map((plan) => ({ value: plan.uniqueLabel, label: plan.label })),
        ],
      } as const,
    }),
    ...((service.meteredInputs ?? []).length > 0 && {
      meter: { label: t('meter.number'), hint: t('customer.meterHint') },
    }),
  };
  return (
    <ActionForm
      label={t('subscription.new')}
      action={t('subscription.make')}
      fields={fields}
      close={close}
      send={(typed) => api.makeConnections({ connection: connectionOf(service, partyID, typed) })}
    />
  );
}

/** A field for each input of the service that a subscription gives itself. */
function asked(service: Service, none: string): Record<string, FieldSpec> {
  const inputs = (service.connectionInputs ?? []).map((one): [string, FieldSpec] => [
    `input ${one.name}`,
    {
      label: one.label ?? one.name,
      required: one.required === 1,
      initial: one.defaultValue ?? '',
      ...choiceOf(one, none),
    },
  ]);
  const quantities = (service.unmeteredInputs ?? [])
    .filter(({ source = 'Subscription' }) => source === 'Subscription')
    .map((one): [string, FieldSpec] => [
      `quantity ${one.name}`,
      {
        label: one.unit ? `${one.label ?? one.name} (${one.unit})` : (one.label ?? one.name),
        kind: 'amount',
        required: one.required === 1,
        initial: one.defaultValue === null ? '' : String(one.defaultValue ?? ''),
      },
    ]);
  return Object.fromEntries([...inputs, ...quantities]);
}

type Input = NonNullable<Service['connectionInputs']>[number];

function choiceOf({ type, options, required }: Input, none: string): Partial<FieldSpec> {
  if (type === 'Date') return { kind: 'date' };
  if (type === 'Number') return { kind: 'amount' };
  const values = type === 'Boolean' ? ['true', 'false'] : type === 'Select' ? options : null;
  if (!values) return {};
  const choices = values.map((value) => ({ value, label: value }));
  return {
    kind: 'choice',
    choices: required === 1 ? choices : [{ value: '', label: none }, ...choices],
  };
}

function connectionOf(service: Service, partyID: number, typed: Typed<string>) {
  const { tariffCode = '', batchCode, connectionDate, addOn, meter } = typed;
  const { serviceCode, postType } = service;
  const given = (kind: string) =>
    Object.entries(typed)
      .filter(([name, value]) => name.startsWith(`${kind} `) && value !== undefined)
      .map(([name, value = '']) => ({ name: name.slice(kind.length + 1), value }));
  return {
    serviceCode,
    postType,
    tariffCode,
    partyID,
    connectionDate,
    batchCode,
    connectionInputs: given('input'),
    unmeteredInputs: given('quantity'),
    ...(addOn ? { addonTariffLabels: [addOn] } : {}),
    ...(meter ? { meters: [{ number: Number(meter) }] } : {}),
  };
}
