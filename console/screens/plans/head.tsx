// Name, parent and visibility of the plan.
import { Checkbox, NativeSelect, SimpleGrid, Stack, Textarea, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { type Plan, plansQuery } from '../../api/queries/plans.ts';
import { Section, type SectionProps } from './section.tsx';

const visibilities = ['Public', 'Private', 'Hidden'] as const;

export function Head({ form, plan }: SectionProps & { plan: Plan }) {
  const { t } = useTranslation();
  const plans = useQuery(plansQuery);
  const others = (plans.data ?? []).filter(
    (one) => one.serviceCode === plan.serviceCode && one.tariffCode !== plan.tariffCode,
  );
  const parents = new Set([form.values.parentTariffCode, ...others.map((one) => one.tariffCode)]);
  return (
    <Section title={t('head.title')} hint={t('head.hint')}>
      <Stack gap="sm">
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <TextInput label={t('plans.name')} required {...form.getInputProps('name')} />
          <TextInput label={t('head.label')} required {...form.getInputProps('uniqueLabel')} />
          <NativeSelect
            label={t('plans.parent')}
            data={[
              { value: '', label: t('plans.noParent') },
              ...[...parents].filter((code) => code !== ''),
            ]}
            {...form.getInputProps('parentTariffCode')}
          />
          <NativeSelect
            label={t('head.visibility')}
            data={visibilities.map((value) => ({ value, label: t(`visibility.${value}`) }))}
            {...form.getInputProps('visibility')}
          />
        </SimpleGrid>
        <Textarea
          label={t('plans.description')}
          autosize
          minRows={2}
          {...form.getInputProps('description')}
        />
        <Checkbox
          label={t('head.archived')}
          {...form.getInputProps('archived', { type: 'checkbox' })}
        />
      </Stack>
    </Section>
  );
}
