// What the bills of the term would be with other values of a plan. Nothing is stored.
import { Card, NativeSelect, Stack, Table, Text, TextInput, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { DataOf } from '../../../sdk/client.ts';
import { api } from '../../api/client.ts';
import { planQuery, plansQuery } from '../../api/queries/services.ts';
import { Amount } from '../../parts/amount.tsx';
import { Figures } from '../../parts/figures.tsx';
import { SendForm } from '../../parts/send-form.tsx';

type TermView = DataOf<'getBillTerm'>['term'];
type Plan = DataOf<'getTariffs'>['tariffs'][number];

export function WhatIf({ term }: { term: TermView }) {
  const { t } = useTranslation();
  const { data: all = [] } = useQuery(plansQuery(term.serviceCode));
  // A plan that is only a parent of others bills nothing.
  const plans = all.filter(({ abstract }) => abstract !== 1);
  const [chosen, setChosen] = useState('');
  const tariffID = Number(chosen || plans[0]?.tariffID);
  const { data: plan } = useQuery({ ...planQuery(tariffID), enabled: plans.length > 0 });
  if (plans.length === 0) return null;
  return (
    <Card withBorder>
      <Stack gap="sm">
        <Title order={2} size="h4">
          {t('register.whatIf')}
        </Title>
        <Text size="sm" c="dimmed">
          {t('register.whatIfHint')}
        </Text>
        <NativeSelect
          label={t('register.plan')}
          value={String(tariffID)}
          onChange={(event) => setChosen(event.currentTarget.value)}
          data={plans.map((one) => ({ value: String(one.tariffID), label: one.label }))}
        />
        {plan && <Form key={plan.tariffID} term={term} plan={plan} />}
      </Stack>
    </Card>
  );
}

function Form({ term, plan }: { term: TermView; plan: Plan }) {
  const { t } = useTranslation();
  const [outcome, setOutcome] = useState<DataOf<'simulateTerm'> | null>(null);
  const values = (plan.valueFormulas ?? []).flatMap(({ name, formula }) =>
    formula == null ? [] : { name, formula: String(formula) },
  );
  const form = useForm<Record<string, string>>({
    initialValues: Object.fromEntries(values.map(({ name, formula }) => [name, formula])),
  });
  if (values.length === 0) return <Text size="sm">{t('register.noValues')}</Text>;
  const send = (typed: Record<string, string>) => {
    const { tariffCode: code, uniqueLabel, parentTariffCode, componentRules, usageData } = plan;
    const valueFormulas = (plan.valueFormulas ?? []).map((one) =>
      typed[one.name] === undefined ? one : { ...one, formula: typed[one.name] },
    );
    const tariff = {
      code,
      uniqueLabel,
      parentTariffCode,
      valueFormulas,
      componentRules,
      usageData,
    };
    return api.simulateTerm({ termID: term.termID, tariffs: [tariff] });
  };
  return (
    <SendForm
      form={form}
      send={send}
      action={t('register.tryIt')}
      onDone={({ data }) => setOutcome(data)}
    >
      {values.map(({ name }) => (
        <TextInput key={name} label={t('register.value', { name })} {...form.getInputProps(name)} />
      ))}
      {outcome && <Outcome outcome={outcome} />}
    </SendForm>
  );
}

function Outcome({ outcome }: { outcome: DataOf<'simulateTerm'> }) {
  const { t } = useTranslation();
  return (
    <Stack gap="sm" aria-live="polite">
      <Figures
        items={[
          { label: t('generate.before'), value: <Amount value={outcome.before.currentCharges} /> },
          { label: t('generate.after'), value: <Amount value={outcome.after.currentCharges} /> },
          { label: t('register.betterOff'), value: outcome.betterOff },
          { label: t('register.worseOff'), value: outcome.worseOff },
          { label: t('register.unchanged'), value: outcome.unchanged },
        ]}
      />
      {outcome.failed > 0 && (
        <Text size="sm">{t('register.failed', { count: outcome.failed })}</Text>
      )}
      <Table aria-label={t('register.byComponent')}>
        <Table.Tbody>
          {outcome.components.map(({ component, label, before, after, change }) => (
            <Table.Tr key={component}>
              <Table.Td>{label}</Table.Td>
              {Object.entries({ before, after, change }).map(([key, value]) => (
                <Table.Td key={key} className="figure">
                  <Amount value={value} />
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Stack>
  );
}
