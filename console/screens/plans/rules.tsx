// How each component of a bill is calculated.
import {
  Accordion,
  Badge,
  Button,
  Checkbox,
  Code,
  Group,
  NativeSelect,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { FormulaInput } from '../../parts/formula-input.tsx';
import { type RuleDraft, ruleDraftOf } from './plan-draft.ts';
import { Section, type SectionProps } from './section.tsx';

export function Rules(props: SectionProps) {
  const { t } = useTranslation();
  const { form, service, isReadOnly } = props;
  const [open, setOpen] = useState<string[]>([]);
  const rules = form.values.componentRules;
  const add = () => {
    const used = new Set(rules.map(({ component }) => component));
    const components = (service.components ?? []).map(({ name }) => name);
    const component = components.find((name) => !used.has(name)) ?? components[0] ?? '';
    const made = ruleDraftOf({ component });
    form.insertListItem('componentRules', made);
    setOpen([...open, made.key]);
  };
  return (
    <Section
      title={t('rules.title')}
      hint={t('rules.hint')}
      add={isReadOnly ? undefined : { label: t('rules.add'), onAdd: add }}
    >
      <Accordion multiple value={open} onChange={setOpen} chevronPosition="left">
        {rules.map((rule, index) => (
          <Accordion.Item key={rule.key} value={rule.key}>
            <Accordion.Control>
              <RuleHead {...props} rule={rule} index={index} />
            </Accordion.Control>
            <Accordion.Panel>
              {open.includes(rule.key) && <RuleFields {...props} rule={rule} index={index} />}
            </Accordion.Panel>
          </Accordion.Item>
        ))}
      </Accordion>
    </Section>
  );
}

type RuleProps = SectionProps & { rule: RuleDraft; index: number };

function RuleHead({ service, problems, rule, index }: RuleProps) {
  const { t } = useTranslation();
  const label = service.components?.find(({ name }) => name === rule.component)?.label;
  const count = problems.within(`componentRules.${index}`).length;
  return (
    <Group gap="sm" wrap="wrap">
      <Text size="sm" fw={600}>
        {label ?? rule.component}
      </Text>
      {rule.scope === 'Term' && <Badge variant="default">{t('scope.Term')}</Badge>}
      {rule.exclude && <Badge variant="default">{t('rules.exclude')}</Badge>}
      {count > 0 && (
        <Badge color="red" variant="light">
          {t('plan.problems', { count })}
        </Badge>
      )}
      <Code className="breaks" dir="ltr">
        {rule.formula}
      </Code>
    </Group>
  );
}

const choices = {
  scope: ['Segment', 'Term'],
  prorate: ['None', 'Days'],
  window: ['Current', 'Previous'],
} as const;

function RuleFields(props: RuleProps) {
  const { t } = useTranslation();
  const { form, service, names, problems, isReadOnly, index } = props;
  const path = `componentRules.${index}`;
  const formula = (name: 'formula' | 'when' | 'quantity' | 'rate') => (
    <FormulaInput
      label={t(`rules.${name}`)}
      value={form.values.componentRules[index]?.[name] ?? ''}
      onChange={(text) => form.setFieldValue(`${path}.${name}`, text)}
      names={names}
      problems={problems.at(`${path}.${name}`)}
      isReadOnly={isReadOnly}
    />
  );
  return (
    <Stack gap="sm">
      <NativeSelect
        label={t('rules.component')}
        data={(service.components ?? []).map(({ name, label }) => ({
          value: name,
          label: label ? `${label} (${name})` : name,
        }))}
        error={problems.at(`${path}.component`)[0]?.message}
        {...form.getInputProps(`${path}.component`)}
      />
      {formula('formula')}
      {formula('when')}
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        {(Object.keys(choices) as (keyof typeof choices)[]).map((name) => (
          <NativeSelect
            key={name}
            label={t(`rules.${name}`)}
            data={choices[name].map((value) => ({ value, label: t(`${name}.${value}`) }))}
            {...form.getInputProps(`${path}.${name}`)}
          />
        ))}
      </SimpleGrid>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        {formula('quantity')}
        {formula('rate')}
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
      <TextInput label={t('plans.description')} {...form.getInputProps(`${path}.description`)} />
      <Group justify="space-between">
        <Checkbox
          label={t('rules.exclude')}
          {...form.getInputProps(`${path}.exclude`, { type: 'checkbox' })}
        />
        {!isReadOnly && (
          <Button
            size="xs"
            variant="default"
            onClick={() => form.removeListItem('componentRules', index)}
          >
            {t('rules.remove')}
          </Button>
        )}
      </Group>
    </Stack>
  );
}
