// One service: name, days to pay, how it bills and is paid, templates, batches, bank accounts and
// dunning steps.
import {
  Button,
  Fieldset,
  Group,
  NativeSelect,
  SimpleGrid,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { templatesQuery } from '../../api/queries/admin.ts';
import { queries } from '../../api/queries/base.ts';
import { ledgerAccountsQuery } from '../../api/queries/ledger.ts';
import { type Service, serviceQuery } from '../../api/queries/plans.ts';
import { mayUse } from '../../api/session.ts';
import { useEdited } from '../../parts/edited.tsx';
import { Loading, Refusal } from '../../parts/notes.tsx';
import { Page } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { SendForm } from '../../parts/send-form.tsx';
import { Billing, HoldRules, Paying } from './conditions.tsx';
import { Definitions } from './definitions.tsx';
import { type DraftForm, Items } from './items.tsx';
import { changesOf, draftOf, placesInDraft, type ServiceDraft } from './service-draft.ts';

const numbers = ['dueDateOffset', 'minimumDaysToPay', 'graceDays', 'readingGraceDays'] as const;
const actions = ['Remind', 'Fee', 'List', 'Disconnect'] as const;

export function ServiceScreen() {
  const { t } = useTranslation();
  const { serviceCode } = useParams({ from: '/inside/services/$serviceCode' });
  const query = useQuery(serviceQuery(serviceCode));
  if (query.isPending) return <Loading />;
  if (query.isLoadingError) return <Refusal error={query.error} />;
  const service = query.data;
  return (
    <Page
      title={`${service.serviceCode} · ${service.serviceLabel}`}
      crumbs={[{ label: t('services.title'), to: '/services' }]}
      hint={
        <PageLink to="/plans" search={{ service: serviceCode }}>
          {t('services.plans')}
        </PageLink>
      }
    >
      <Form key={serviceCode} service={service} />
    </Page>
  );
}

/** Fields whose label has another name than the field. */
const labels: Partial<Record<keyof ServiceDraft, string>> = {
  name: 'plans.name',
  description: 'plans.description',
  invoiceTemplate: 'services.template',
  emailTemplate: 'services.mail',
  steps: 'services.dunning',
  components: 'definitions.components',
  meteredInputs: 'definitions.meteredInputs',
  unmeteredInputs: 'definitions.unmeteredInputs',
  values: 'definitions.values',
};

function Form({ service }: { service: Service }) {
  const { t } = useTranslation();
  const form = useForm<ServiceDraft>({ initialValues: draftOf(service) });
  const { send, stay, merge } = useEdited({
    form,
    object: service,
    valuesOf: draftOf,
    load: () => queries.fetchQuery({ ...serviceQuery(service.serviceCode), staleTime: 0 }),
    labelOf: (name) => t(labels[name] ?? `services.${name}`),
  });
  const templates = useQuery(templatesQuery);
  const choices = (type: string) =>
    (templates.data ?? [])
      .filter((template) => template.type === type)
      .map(({ templateID, name }) => ({ value: String(templateID), label: name }));
  return (
    <Fieldset variant="unstyled" disabled={!mayUse('contexts:write')} maw={1200}>
      <SendForm
        form={form}
        send={send((draft, seen) => api.updateService({ service: changesOf(seen, draft) }))}
        placesOf={placesInDraft}
        onDone={stay}
        action={t('services.save')}
        done={t('services.saved')}
        isReady={form.isDirty()}
      >
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <TextInput label={t('plans.name')} required {...form.getInputProps('name')} />
          {numbers.map((name) => (
            <TextInput
              key={name}
              label={t(`services.${name}`)}
              inputMode="numeric"
              {...form.getInputProps(name)}
            />
          ))}
          <NativeSelect
            label={t('services.template')}
            data={choices('Invoice')}
            {...form.getInputProps('invoiceTemplate')}
          />
          <NativeSelect
            label={t('services.mail')}
            data={[{ value: '', label: t('services.plainMail') }, ...choices('Email')]}
            {...form.getInputProps('emailTemplate')}
          />
        </SimpleGrid>
        {mayUse('ledger:read') && <CashAccount form={form} />}
        <Textarea label={t('plans.description')} autosize {...form.getInputProps('description')} />
        <Billing form={form} />
        <Paying form={form} mails={choices('Email')} />
        <Definitions form={form} service={service} />
        <HoldRules form={form} />
        <Batches form={form} />
        <BankAccounts form={form} />
        <Steps form={form} mails={choices('Email')} />
        {merge}
      </SendForm>
    </Fieldset>
  );
}

/** Where the payments for this service are booked, unless a cash desk took them. */
function CashAccount({ form }: { form: DraftForm }) {
  const { t } = useTranslation();
  const { data: accounts = [] } = useQuery(ledgerAccountsQuery);
  return (
    <NativeSelect
      label={t('services.cashAccountID')}
      maw={592}
      data={accounts
        .filter((one) => one.kind === 'Asset' && one.isControl === 0)
        .map((one) => ({
          value: String(one.ledgerAccountID),
          label: `${one.accountCode} · ${t(`accountName.${one.name}`, { defaultValue: one.name })}`,
        }))}
      {...form.getInputProps('cashAccountID')}
    />
  );
}

function Batches({ form }: { form: DraftForm }) {
  const { t } = useTranslation();
  const empty = { batchCode: '', label: '', readingDay: '', billingDay: '' };
  return (
    <Items
      title={t('services.batches')}
      add={t('services.addBatch')}
      onAdd={() => form.insertListItem('batches', empty as never)}
    >
      {form.values.batches.map((batch, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a new batch has no other name yet.
        <SimpleGrid key={index} cols={{ base: 1, xs: 2, md: 4 }} spacing="xs">
          {(['batchCode', 'label', 'readingDay', 'billingDay'] as const).map((name) => (
            <TextInput
              key={name}
              size="xs"
              label={t(`services.${name}`)}
              readOnly={name === 'batchCode' && batch.batchID !== undefined}
              {...form.getInputProps(`batches.${index}.${name}`)}
            />
          ))}
        </SimpleGrid>
      ))}
    </Items>
  );
}

function BankAccounts({ form }: { form: DraftForm }) {
  const { t } = useTranslation();
  const empty = { title: '', bankName: '', accountNumber: '', iban: '' };
  return (
    <Items
      title={t('services.bankAccounts')}
      add={t('services.addAccount')}
      onAdd={() => form.insertListItem('bankAccounts', empty as never)}
    >
      {form.values.bankAccounts.map((_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a new account has no other name yet.
        <SimpleGrid key={index} cols={{ base: 1, xs: 2, md: 4 }} spacing="xs">
          {(['title', 'bankName', 'accountNumber', 'iban'] as const).map((name) => (
            <TextInput
              key={name}
              size="xs"
              label={t(`account.${name}`)}
              {...form.getInputProps(`bankAccounts.${index}.${name}`)}
            />
          ))}
        </SimpleGrid>
      ))}
    </Items>
  );
}

function Steps({
  form,
  mails,
}: {
  form: DraftForm;
  mails: readonly { value: string; label: string }[];
}) {
  const { t } = useTranslation();
  const empty = {
    daysAfterDue: '10',
    action: actions[0],
    templateID: '',
    component: '',
    amount: '',
  };
  return (
    <Items
      title={t('services.dunning')}
      add={t('services.addStep')}
      onAdd={() => form.insertListItem('steps', empty)}
    >
      {form.values.steps.map((step, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a step has no other name than its place.
        <Group key={index} align="flex-end" gap="xs">
          <TextInput
            size="xs"
            w={140}
            label={t('services.daysAfterDue')}
            {...form.getInputProps(`steps.${index}.daysAfterDue`)}
          />
          <NativeSelect
            size="xs"
            label={t('services.action')}
            data={[...new Set([...actions, step.action])].map((value) => ({
              value,
              label: t(`dunningAction.${value}`, { defaultValue: value }),
            }))}
            {...form.getInputProps(`steps.${index}.action`)}
          />
          {step.action === 'Fee' ? (
            <Fee form={form} index={index} />
          ) : (
            <NativeSelect
              size="xs"
              label={t('services.mail')}
              data={['', ...mails]}
              {...form.getInputProps(`steps.${index}.templateID`)}
            />
          )}
          <Button size="xs" variant="default" onClick={() => form.removeListItem('steps', index)}>
            {t('services.removeStep')}
          </Button>
        </Group>
      ))}
    </Items>
  );
}

/** The line of the next bill on which the fee of a step appears, and its amount. */
function Fee({ form, index }: { form: DraftForm; index: number }) {
  const { t } = useTranslation();
  const lines = form.values.components.map(({ name, label }) => ({ value: name, label }));
  return (
    <>
      <NativeSelect
        size="xs"
        label={t('services.feeLine')}
        data={[{ value: '', label: '' }, ...lines]}
        {...form.getInputProps(`steps.${index}.component`)}
      />
      <TextInput
        size="xs"
        w={120}
        label={t('bills.amount')}
        inputMode="decimal"
        {...form.getInputProps(`steps.${index}.amount`)}
      />
    </>
  );
}
