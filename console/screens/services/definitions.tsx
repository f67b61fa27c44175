// What the plans of a service can charge and measure: lines of bills, inputs, and values of formulas.
import { Button, Group, NativeSelect, SimpleGrid, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { ledgerAccountsQuery } from '../../api/queries/ledger.ts';
import type { Service } from '../../api/queries/plans.ts';
import { mayUse } from '../../api/session.ts';
import { type DraftForm, Items } from './items.tsx';

type ListName = 'components' | 'meteredInputs' | 'unmeteredInputs' | 'values';

type FieldOf = { name: string; label: string; choices?: { value: string; label: string }[] };

const componentTypes = [
  'Charge',
  'Tax',
  'Discount',
  'Surcharge',
  'Subsidy',
  'LateSurcharge',
] as const;
const valueTypes = ['Number', 'Percent', 'Text', 'Boolean', 'Table'] as const;

type Props = { form: DraftForm; service: Service };

export function Definitions({ form, service }: Props) {
  const { t } = useTranslation();
  const parts = usePartsOf(service);
  return parts.map(({ list, empty, fields }) => (
    <Items
      key={list}
      title={t(`definitions.${list}`)}
      hint={t(`definitions.${list}Hint`)}
      add={t(`definitions.add_${list}`)}
      onAdd={() => form.insertListItem(list, empty as never)}
    >
      {form.values[list].map((item, index) => (
        <Item
          // biome-ignore lint/suspicious/noArrayIndexKey: a new item has no other name yet.
          key={index}
          form={form}
          place={{ list, index }}
          fields={fields}
          isKnown={(service[list] ?? []).some(({ name }) => name === item.name)}
        />
      ))}
    </Items>
  ));
}

function usePartsOf(service: Service): { list: ListName; empty: object; fields: FieldOf[] }[] {
  const { t } = useTranslation();
  const field = (name: string): FieldOf => ({ name, label: t(`definitions.${name}`) });
  const choice = (name: string, words: string, values: readonly string[]): FieldOf => ({
    ...field(name),
    choices: values.map((value) => ({ value, label: t(`${words}.${value}`) })),
  });
  const named = [field('name'), field('label')];
  const accounts = useAccounts(service);
  const component = {
    ...{ name: '', label: '', type: 'Charge', categories: '', manual: 'No' },
    account: '',
  };
  return [
    {
      list: 'components',
      empty: component,
      fields: [
        ...named,
        choice('type', 'componentType', componentTypes),
        field('categories'),
        choice('manual', 'manualUse', ['No', 'Optional', 'Required']),
        ...(accounts ? [{ ...field('account'), choices: accounts }] : []),
      ],
    },
    {
      list: 'meteredInputs',
      empty: { name: '', label: '', unit: '', register: '' },
      fields: [...named, field('unit'), field('register')],
    },
    {
      list: 'unmeteredInputs',
      empty: { name: '', label: '', unit: '', source: 'Subscription' },
      fields: [
        ...named,
        field('unit'),
        choice('source', 'inputSource', ['Subscription', 'Uploaded']),
      ],
    },
    {
      list: 'values',
      empty: { name: '', label: '', type: 'Number', default: '' },
      fields: [...named, choice('type', 'valueType', valueTypes), field('default')],
    },
  ];
}

/** On which a line can be booked; undefined for those who may not see the books. */
function useAccounts({ components }: Service): FieldOf['choices'] {
  const { t } = useTranslation();
  const mayRead = mayUse('ledger:read');
  const { data } = useQuery({ ...ledgerAccountsQuery, enabled: mayRead });
  if (!mayRead) return undefined;
  const free = (data ?? []).filter((one) => one.isControl === 0).map((one) => one.accountCode);
  // The first posting opens an account that a service names and that does not exist yet.
  const named = (components ?? []).flatMap(({ account }) => account ?? []);
  const codes = [...new Set([...free, ...named])];
  return [
    { value: '', label: t('definitions.usualAccount') },
    ...codes.map((value) => ({ value, label: value })),
  ];
}

function Item({
  form,
  place: { list, index },
  fields,
  isKnown,
}: {
  form: DraftForm;
  place: { list: ListName; index: number };
  fields: readonly FieldOf[];
  /** Formulas of plans use its name: that stays. */
  isKnown: boolean;
}) {
  const { t } = useTranslation();
  const item = form.values[list][index] as Record<string, unknown>;
  // The rows of a table are on the page of the plan that uses them.
  const shown = fields.filter(({ name }) => !Array.isArray(item[name]));
  return (
    <Group align="flex-end" gap="xs" wrap="nowrap">
      <SimpleGrid
        cols={{ base: 1, xs: 2, md: fields.length }}
        spacing="xs"
        miw={0}
        style={{ flexGrow: 1 }}
      >
        {shown.map(({ name, label, choices }) => {
          const common = {
            size: 'xs',
            label,
            ...form.getInputProps(`${list}.${index}.${name}`),
          } as const;
          return choices ? (
            <NativeSelect key={name} {...common} data={choices} />
          ) : (
            <TextInput key={name} {...common} readOnly={name === 'name' && isKnown} />
          );
        })}
      </SimpleGrid>
      <Button
        flex="none"
        size="xs"
        variant="default"
        aria-label={t('definitions.removeOf', { name: String(item.name) })}
        onClick={() => form.removeListItem(list, index)}
      >
        {t('services.removeStep')}
      </Button>
    </Group>
  );
}
