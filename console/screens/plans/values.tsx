// The prices of the plan: a formula or a table for each value, from a day on.
import {
  Accordion,
  ActionIcon,
  Badge,
  Button,
  Code,
  Group,
  NativeSelect,
  SimpleGrid,
  Stack,
  Table,
  Text,
  TextInput,
} from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { FormulaInput } from '../../parts/formula-input.tsx';
import { type Row, type ValueDraft, valueDraftOf } from './plan-draft.ts';
import { Section, type SectionProps } from './section.tsx';

export function Values(props: SectionProps) {
  const { t } = useTranslation();
  const { form, service, isReadOnly } = props;
  const [open, setOpen] = useState<string[]>([]);
  const values = form.values.valueFormulas;
  const add = () => {
    const made = valueDraftOf({ name: service.values?.[0]?.name ?? '' });
    form.insertListItem('valueFormulas', made);
    setOpen([...open, made.key]);
  };
  return (
    <Section
      title={t('planValues.title')}
      hint={t('planValues.hint')}
      add={isReadOnly ? undefined : { label: t('planValues.add'), onAdd: add }}
    >
      <Accordion multiple value={open} onChange={setOpen} chevronPosition="left">
        {values.map((value, index) => (
          <Accordion.Item key={value.key} value={value.key}>
            <Accordion.Control>
              <ValueHead {...props} value={value} index={index} />
            </Accordion.Control>
            <Accordion.Panel>
              {open.includes(value.key) && <ValueFields {...props} value={value} index={index} />}
            </Accordion.Panel>
          </Accordion.Item>
        ))}
      </Accordion>
    </Section>
  );
}

type ValueProps = SectionProps & { value: ValueDraft; index: number };

function ValueHead({ service, problems, value, index }: ValueProps) {
  const { t } = useTranslation();
  const label = service.values?.find(({ name }) => name === value.name)?.label;
  const count = problems.within(`valueFormulas.${index}`).length;
  return (
    <Group gap="sm" wrap="wrap">
      <Text size="sm" fw={600}>
        {label ?? value.name}
      </Text>
      {value.fromDate !== '' && (
        <Text size="sm" c="dimmed">
          {t('planValues.since', { day: value.fromDate })}
        </Text>
      )}
      {count > 0 && (
        <Badge color="red" variant="light">
          {t('plan.problems', { count })}
        </Badge>
      )}
      <Code dir="ltr">
        {value.rows ? t('planValues.rows', { count: value.rows.length }) : value.formula}
      </Code>
    </Group>
  );
}

function ValueFields(props: ValueProps) {
  const { t } = useTranslation();
  const { form, service, names, problems, isReadOnly, value, index } = props;
  const path = `valueFormulas.${index}`;
  const definition = service.values?.find(({ name }) => name === value.name);
  const isTable = definition?.type === 'Table';
  return (
    <Stack gap="sm">
      <NativeSelect
        label={t('planValues.value')}
        data={(service.values ?? []).map(({ name, label }) => ({
          value: name,
          label: label ? `${label} (${name})` : name,
        }))}
        error={problems.at(`${path}.name`)[0]?.message}
        {...form.getInputProps(`${path}.name`)}
      />
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <TextInput
          type="date"
          label={t('plan.from')}
          error={problems.at(`${path}.fromDate`)[0]?.message}
          {...form.getInputProps(`${path}.fromDate`)}
        />
        <TextInput
          type="date"
          label={t('plan.to')}
          error={problems.at(`${path}.toDate`)[0]?.message}
          {...form.getInputProps(`${path}.toDate`)}
        />
      </SimpleGrid>
      {isTable ? (
        <Rows {...props} columns={definition.columns ?? []} />
      ) : (
        <FormulaInput
          label={t('rules.formula')}
          value={value.formula}
          onChange={(text) => form.setFieldValue(`${path}.formula`, text)}
          names={names}
          problems={problems.at(`${path}.formula`)}
          isReadOnly={isReadOnly}
        />
      )}
      {!isReadOnly && (
        <Group justify="flex-end">
          <Button
            size="xs"
            variant="default"
            onClick={() => form.removeListItem('valueFormulas', index)}
          >
            {t('planValues.remove')}
          </Button>
        </Group>
      )}
    </Stack>
  );
}

/** An empty cell is null: the open end of a slab table. */
function Rows(props: ValueProps & { columns: readonly string[] }) {
  const { t } = useTranslation();
  const { form, problems, isReadOnly, value, index, columns } = props;
  const path = `valueFormulas.${index}.rows`;
  const rows = value.rows ?? [];
  const keep = (next: Row[]) => form.setFieldValue(path, next);
  const setCell = (at: number, column: string, text: string) =>
    keep(rows.map((row, i) => (i === at ? { ...row, [column]: text === '' ? null : text } : row)));
  return (
    <Stack gap="xs">
      <Table aria-label={t('planValues.table')} withTableBorder>
        <Table.Thead>
          <Table.Tr>
            {columns.map((column) => (
              <Table.Th key={column}>{column}</Table.Th>
            ))}
            <Table.Td />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a row has no other name than its place.
            <Table.Tr key={at}>
              {columns.map((column) => (
                <Table.Td key={column}>
                  <TextInput
                    size="xs"
                    dir="ltr"
                    aria-label={t('planValues.cell', { column, row: at + 1 })}
                    value={row[column] ?? ''}
                    onChange={(event) => setCell(at, column, event.currentTarget.value)}
                  />
                </Table.Td>
              ))}
              <Table.Td>
                {!isReadOnly && (
                  <ActionIcon
                    variant="subtle"
                    color="gray"
                    aria-label={t('planValues.removeRow', { row: at + 1 })}
                    onClick={() => keep(rows.filter((_, i) => i !== at))}
                  >
                    <IconTrash size={16} />
                  </ActionIcon>
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {problems.within(path).map((problem) => (
        <Text key={`${problem.path} ${problem.message}`} size="sm" c="var(--mantine-color-error)">
          {problem.message}
        </Text>
      ))}
      {!isReadOnly && (
        <Group>
          <Button
            size="xs"
            variant="default"
            onClick={() => keep([...rows, Object.fromEntries(columns.map((name) => [name, null]))])}
          >
            {t('planValues.addRow')}
          </Button>
        </Group>
      )}
    </Stack>
  );
}
