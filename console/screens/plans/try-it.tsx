// A simulated bill of the plan as it is typed, with the explanation of each line.
import {
  Button,
  Card,
  Checkbox,
  Code,
  List as Items,
  NativeSelect,
  SimpleGrid,
  Stack,
  Table,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { DataOf } from '../../../sdk/client.ts';
import type { Service } from '../../api/queries/plans.ts';
import { Amount, Money } from '../../parts/amount.tsx';
import { Loading } from '../../parts/notes.tsx';
import type { Problems } from './problems.ts';
import { fieldsOf, type ScenarioField, type ScenarioInputs } from './scenario.ts';

type Tried = DataOf<'simulateTariff'>;

export function TryIt({
  service,
  inputs,
  onInputs,
  tried,
  problems,
}: {
  service: Service;
  inputs: ScenarioInputs;
  onInputs: (inputs: ScenarioInputs) => void;
  tried: UseQueryResult<Tried>;
  problems: Problems;
}) {
  const { t } = useTranslation();
  const set = (name: string, value: string) =>
    onInputs({ ...inputs, quantities: { ...inputs.quantities, [name]: value } });
  return (
    <Card withBorder padding="md" component="section" aria-label={t('try.title')}>
      <Stack gap="sm">
        <div>
          <Title order={2} size="h4">
            {t('try.title')}
          </Title>
          <Text size="sm" c="dimmed">
            {t('try.hint')}
          </Text>
        </div>
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
          <TextInput
            type="month"
            size="xs"
            label={t('try.month')}
            value={inputs.month}
            onChange={({ currentTarget: { value } }) =>
              value !== '' && onInputs({ ...inputs, month: value })
            }
          />
          {fieldsOf(service).map((field) => (
            <InputField
              key={field.name}
              field={field}
              value={inputs.quantities[field.name] ?? ''}
              onChange={(value) => set(field.name, value)}
            />
          ))}
        </SimpleGrid>
        <Checkbox
          size="xs"
          label={t('try.firstBill')}
          checked={inputs.isFirstBill}
          onChange={({ currentTarget: { checked } }) =>
            onInputs({ ...inputs, isFirstBill: checked })
          }
        />
        <div aria-live="polite">
          <Outcome tried={tried} problems={problems} />
        </div>
      </Stack>
    </Card>
  );
}

function InputField({
  field,
  value,
  onChange,
}: {
  field: ScenarioField;
  value: string;
  onChange: (value: string) => void;
}) {
  const label = field.unit === null ? field.label : `${field.label} (${field.unit})`;
  const shared = { size: 'xs' as const, label, value };
  if (field.kind === 'Select' || field.kind === 'Boolean') {
    const options = field.kind === 'Boolean' ? ['true', 'false'] : field.options;
    return (
      <NativeSelect
        {...shared}
        data={['', ...options]}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  }
  return (
    <TextInput
      {...shared}
      {...(field.kind === 'Number' ? { inputMode: 'decimal' as const } : {})}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

function Outcome({ tried, problems }: { tried: UseQueryResult<Tried>; problems: Problems }) {
  const { t } = useTranslation();
  if (tried.isError) {
    return (
      <Stack gap="xs">
        <Text fw={600} c="var(--mantine-color-error)">
          {t('try.problems')}
        </Text>
        <Items size="sm">
          {problems.all.map(({ path, message, position }) => (
            <Items.Item key={`${path} ${position} ${message}`}>{message}</Items.Item>
          ))}
        </Items>
        {problems.all.length === 0 && <Text size="sm">{tried.error.message}</Text>}
      </Stack>
    );
  }
  if (!tried.data) return <Loading />;
  return <TriedBill tried={tried.data} isOld={tried.isPlaceholderData} />;
}

function TriedBill({ tried, isOld }: { tried: Tried; isOld: boolean }) {
  const { t } = useTranslation();
  const { bill, explanation = [] } = tried;
  const [open, setOpen] = useState<number | null>(null);
  return (
    <Stack gap="xs" opacity={isOld ? 0.7 : 1}>
      {bill.errors.map((error) => (
        <Text key={`${error.code} ${error.message}`} size="sm" c="var(--mantine-color-error)">
          {error.message}
        </Text>
      ))}
      <Table aria-label={t('try.bill')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('bill.charge')}</Table.Th>
            <Table.Th className="figure">{t('bill.quantity')}</Table.Th>
            <Table.Th className="figure">{t('bills.amount')}</Table.Th>
            <Table.Td />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {bill.lines.map((line) => (
            <Table.Tr key={line.lineNo}>
              <Table.Td>
                {line.label}
                <Text size="xs" c="dimmed">
                  {line.fromDate} – {line.toDate}
                </Text>
              </Table.Td>
              <Table.Td className="figure">{line.quantity}</Table.Td>
              <Table.Td className="figure">
                <Amount value={line.amount} />
              </Table.Td>
              <Table.Td>
                <Button
                  size="compact-xs"
                  variant="default"
                  aria-expanded={open === line.lineNo}
                  aria-label={t('bill.whyOf', { label: line.label })}
                  onClick={() => setOpen(open === line.lineNo ? null : line.lineNo)}
                >
                  {t('bill.why')}
                </Button>
              </Table.Td>
            </Table.Tr>
          ))}
          <Table.Tr>
            <Table.Th colSpan={2}>{t('try.total')}</Table.Th>
            <Table.Th className="figure">
              <Money value={bill.currentCharges} />
            </Table.Th>
            <Table.Td />
          </Table.Tr>
        </Table.Tbody>
      </Table>
      {explanation
        .filter(({ lineNo }) => lineNo === open)
        .map((line) => (
          <Card key={`${line.lineNo} ${line.fromDate}`} withBorder padding="sm">
            <Text size="sm" mb="xs" className="breaks">
              {line.text}
            </Text>
            {line.formula !== null && (
              <Code block dir="ltr">
                {line.formula}
              </Code>
            )}
          </Card>
        ))}
    </Stack>
  );
}
