// Which inputs of the service the plan uses, and where their quantities come from.
import { ActionIcon, Checkbox, NativeSelect, Table, Text } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { scrolls } from '../../parts/scrolls.ts';
import { inputDraftOf } from './plan-draft.ts';
import { Section, type SectionProps } from './section.tsx';

const sources = ['', 'Metered', 'Unmetered', 'Uploaded'] as const;
const estimates = ['', 'Allowed', 'NotAllowed'] as const;

export function Inputs({ form, service, problems, isReadOnly }: SectionProps) {
  const { t } = useTranslation();
  const inputs = [...(service.meteredInputs ?? []), ...(service.unmeteredInputs ?? [])];
  const used = form.values.usageData;
  const add = () => {
    const names = new Set(used.map(({ input }) => input));
    const free = inputs.find(({ name }) => !names.has(name));
    form.insertListItem('usageData', inputDraftOf({ input: free?.name ?? '' }));
  };
  const options = [
    ...new Set(['', ...inputs.map(({ name }) => name), ...used.map(({ input }) => input)]),
  ];
  return (
    <Section
      title={t('inputs.title')}
      hint={t('inputs.hint')}
      add={isReadOnly ? undefined : { label: t('inputs.add'), onAdd: add }}
    >
      <Table.ScrollContainer minWidth={460} type="native" {...scrolls(t('inputs.title'))}>
        <Table aria-label={t('inputs.title')}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('inputs.input')}</Table.Th>
              <Table.Th>{t('inputs.source')}</Table.Th>
              <Table.Th>{t('inputs.required')}</Table.Th>
              <Table.Th>{t('inputs.estimate')}</Table.Th>
              <Table.Td />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {used.map((item, index) => (
              <Table.Tr key={item.key}>
                <Table.Td>
                  <NativeSelect
                    size="xs"
                    miw={110}
                    aria-label={t('inputs.input')}
                    data={options}
                    {...form.getInputProps(`usageData.${index}.input`)}
                  />
                </Table.Td>
                <Table.Td>
                  <NativeSelect
                    size="xs"
                    aria-label={t('inputs.source')}
                    data={sources.map((value) => ({
                      value,
                      label: t(`source.${value || 'usual'}`),
                    }))}
                    {...form.getInputProps(`usageData.${index}.source`)}
                  />
                </Table.Td>
                <Table.Td>
                  <Checkbox
                    aria-label={t('inputs.required')}
                    {...form.getInputProps(`usageData.${index}.required`, { type: 'checkbox' })}
                  />
                </Table.Td>
                <Table.Td>
                  <NativeSelect
                    size="xs"
                    aria-label={t('inputs.estimate')}
                    data={estimates.map((value) => ({
                      value,
                      label: t(`estimate.${value || 'usual'}`),
                    }))}
                    {...form.getInputProps(`usageData.${index}.estimate`)}
                  />
                </Table.Td>
                <Table.Td>
                  {!isReadOnly && (
                    <ActionIcon
                      variant="subtle"
                      color="gray"
                      aria-label={t('inputs.remove', { input: item.input })}
                      onClick={() => form.removeListItem('usageData', index)}
                    >
                      <IconTrash size={16} />
                    </ActionIcon>
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {problems.within('usageData').map((problem) => (
        <Text key={`${problem.path} ${problem.message}`} size="sm" c="var(--mantine-color-error)">
          {problem.message}
        </Text>
      ))}
    </Section>
  );
}
