// Types of meters: what each register of a meter counts.
import {
  Button,
  Card,
  Checkbox,
  Group,
  NativeSelect,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { type MeterType, meterTypePages } from '../../api/queries/subscriptions.ts';
import { mayUse } from '../../api/session.ts';
import type { Column } from '../../parts/columns.ts';
import { DialogButton } from '../../parts/dialog.tsx';
import { List } from '../../parts/list.tsx';
import { Empty } from '../../parts/notes.tsx';
import { SendForm } from '../../parts/send-form.tsx';

export function MeterTypes() {
  const { t } = useTranslation();
  return (
    <List
      pages={meterTypePages}
      columns={useColumns()}
      rowKey={(type) => type.id}
      label={t('settings.tabs.meterTypes')}
      empty={<Empty title={t('meterTypes.none')} />}
      tools={
        mayUse('meters:write') && (
          <DialogButton label={t('meterTypes.new')} size="lg">
            {(close) => <NewType onDone={close} />}
          </DialogButton>
        )
      }
    />
  );
}

function useColumns(): Column<MeterType>[] {
  const { t } = useTranslation();
  const inWords = ({ register, unit, kind, digits, decimals, timeOfUse }: Register) =>
    t(timeOfUse ? 'meterTypes.registerAt' : 'meterTypes.register', {
      ...{ register, unit, digits, decimals, timeOfUse },
      kind: t(`registerKind.${kind}`),
    });
  return [
    { key: 'name', label: t('customers.name'), show: (type) => type.name },
    { key: 'utility', label: t('meterTypes.utility'), show: (type) => type.utility },
    { key: 'phases', label: t('meterTypes.phases'), isFigure: true, show: (type) => type.phases },
    {
      key: 'prepaid',
      label: t('chargingType.Prepaid'),
      show: ({ prepaid }) => t(prepaid === 1 ? 'meterTypes.yes' : 'meterTypes.no'),
    },
    {
      key: 'registers',
      label: t('meterTypes.registers'),
      text: ({ registers }) => registers.map(inWords).join('; '),
      show: ({ registers }) =>
        registers.map((one) => (
          <Text key={one.register} size="xs" miw="max-content">
            {inWords(one)}
          </Text>
        )),
    },
  ];
}

type Register = MeterType['registers'][number];
const kinds = ['Cumulative', 'Interval', 'Consumptive', 'Demand'] as const;
const blank = {
  register: '',
  unit: '',
  kind: 'Cumulative',
  timeOfUse: '',
  digits: '',
  decimals: '0',
};

function newType() {
  return { name: '', utility: '', phases: '', prepaid: false, registers: [blank] };
}
type Draft = ReturnType<typeof newType>;

/** A text that is not a number is sent as it is: the server refuses it at its field. */
const number = (typed: string) => (/^\s*\d+\s*$/.test(typed) ? Number(typed) : typed) as number;

function sentOf({ phases, registers, ...type }: Draft) {
  return {
    ...type,
    ...(phases === '' ? {} : { phases: number(phases) }),
    registers: registers.map(({ kind, timeOfUse, digits, decimals, ...one }) => ({
      ...one,
      kind: kinds.find((known) => known === kind) ?? 'Cumulative',
      ...(timeOfUse === '' ? {} : { timeOfUse }),
      digits: number(digits),
      ...(decimals === '' ? {} : { decimals: number(decimals) }),
    })),
  };
}

type DraftForm = ReturnType<typeof useForm<Draft>>;

function NewType({ onDone }: { onDone: () => void }) {
  const { t } = useTranslation();
  const form = useForm<Draft>({ initialValues: newType() });
  return (
    <SendForm
      form={form}
      send={(draft) => api.makeMeterTypes({ meterTypes: [sentOf(draft)] })}
      action={t('meterTypes.make')}
      onDone={onDone}
    >
      <Text size="sm">{t('meterTypes.stays')}</Text>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <TextInput
          label={t('customers.name')}
          required
          data-autofocus
          {...form.getInputProps('name')}
        />
        <TextInput
          label={t('meterTypes.utility')}
          description={t('meterTypes.utilityHint')}
          required
          {...form.getInputProps('utility')}
        />
        <NativeSelect
          label={t('meterTypes.phases')}
          data={[{ value: '', label: t('meterTypes.noPhases') }, '1', '2', '3']}
          {...form.getInputProps('phases')}
        />
      </SimpleGrid>
      <Checkbox
        label={t('chargingType.Prepaid')}
        {...form.getInputProps('prepaid', { type: 'checkbox' })}
      />
      <Stack gap="sm" role="group" aria-label={t('meterTypes.registers')}>
        {form.values.registers.map((_, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a new register has no other name yet.
          <RegisterFields key={index} form={form} index={index} />
        ))}
      </Stack>
      <Group>
        <Button
          variant="default"
          size="xs"
          onClick={() => form.insertListItem('registers', { ...blank })}
        >
          {t('meterTypes.addRegister')}
        </Button>
      </Group>
    </SendForm>
  );
}

function RegisterFields({ form, index }: { form: DraftForm; index: number }) {
  const { t } = useTranslation();
  const props = (name: keyof typeof blank) => ({
    size: 'xs' as const,
    label: t(`meterTypes.${name}`),
    ...form.getInputProps(`registers.${index}.${name}`),
  });
  return (
    <Card withBorder padding="sm">
      <SimpleGrid cols={{ base: 1, xs: 2, sm: 3 }} spacing="xs">
        <TextInput {...props('register')} label={t('meterTypes.name')} required />
        <TextInput {...props('unit')} required />
        <NativeSelect
          {...props('kind')}
          data={kinds.map((value) => ({ value, label: t(`registerKind.${value}`) }))}
        />
        <TextInput {...props('digits')} inputMode="numeric" required />
        <TextInput {...props('decimals')} inputMode="numeric" />
        <TextInput {...props('timeOfUse')} />
      </SimpleGrid>
      {form.values.registers.length > 1 && (
        <Group justify="flex-end" mt="xs">
          <Button
            variant="default"
            size="xs"
            aria-label={t('definitions.removeOf', {
              name: form.values.registers[index]?.register ?? '',
            })}
            onClick={() => form.removeListItem('registers', index)}
          >
            {t('services.removeStep')}
          </Button>
        </Group>
      )}
    </Card>
  );
}
