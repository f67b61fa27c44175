// Filters of a list. They are in the address, so that a link or the back button finds them again.
import { Button, Group, NativeSelect, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';

export type FilterSpec = {
  label: string;
  kind?: 'text' | 'date' | 'choice';
  choices?: readonly { value: string; label: string }[];
  width?: number;
};

export function Filters<Name extends string>({
  specs,
  values,
  onChange,
}: {
  specs: Record<Name, FilterSpec>;
  values: { [key in Name]?: string };
  onChange: (values: { [key in Name]?: string }) => void;
}) {
  const { t } = useTranslation();
  const entries = Object.entries(specs) as [Name, FilterSpec][];
  const form = useForm<Record<string, string>>({
    initialValues: Object.fromEntries(entries.map(([name]) => [name, values[name] ?? ''])),
  });
  const apply = (typed: Record<string, string>) => {
    const filled = Object.entries(typed).filter(([, value]) => value.trim() !== '');
    onChange(Object.fromEntries(filled.map(([name, value]) => [name, value.trim()])) as never);
  };
  return (
    <form className="no-print" onSubmit={form.onSubmit(apply)}>
      <Group gap="xs" align="flex-end">
        {entries.map(([name, { label, kind = 'text', choices = [], width = 170 }]) =>
          kind === 'choice' ? (
            <NativeSelect
              key={name}
              label={label}
              w={width}
              data={[{ value: '', label: t('all') }, ...choices]}
              {...form.getInputProps(name)}
              onChange={(event) => {
                const chosen: Record<string, string> = { [name]: event.currentTarget.value };
                form.setValues(chosen);
                apply({ ...form.values, ...chosen });
              }}
            />
          ) : (
            <TextInput
              key={name}
              label={label}
              w={width}
              type={kind === 'date' ? 'date' : 'search'}
              {...form.getInputProps(name)}
            />
          ),
        )}
        <Button type="submit" variant="default">
          {t('show')}
        </Button>
      </Group>
    </form>
  );
}
