// A button that asks for a few fields and sends one call.
import { Checkbox, NativeSelect, PasswordInput, Textarea, TextInput } from '@mantine/core';
import { type UseFormReturnType, useForm } from '@mantine/form';
import { type ReactNode, useState } from 'react';
import { newRequestKey } from '../api/request-key.ts';
import { toWire } from './days.ts';
import { DialogButton } from './dialog.tsx';
import { SendForm } from './send-form.tsx';
import { useWatched } from './steady.tsx';

export type FieldSpec = {
  label: string;
  kind?: 'text' | 'amount' | 'date' | 'choice' | 'long' | 'yes' | 'password';
  choices?: readonly { value: string; label: string }[];
  initial?: string;
  hint?: string;
  required?: boolean;
  /** Called with a choice, where other fields depend on it. */
  onChange?: (value: string) => void;
};

/** What was typed: days as the API writes them, undefined where a field was left empty. */
export type Typed<Name extends string> = { [key in Name]: string | undefined };

type Props<Name extends string, Reply> = {
  label: string;
  /** What the dialog's own button says, if it says more than `label`. */
  action?: string;
  fields: Record<Name, FieldSpec>;
  /** `key` names what this one dialog asks for: sent twice, it is done once. */
  send: (typed: Typed<Name>, key: string) => Promise<Reply>;
  onDone?: (reply: Reply) => unknown;
  /** What the action will do, above the fields. */
  effect?: ReactNode;
  colour?: string;
  variant?: string;
};

export function ActionDialog<Name extends string, Reply>(props: Props<Name, Reply>) {
  const { label, variant = 'default' } = props;
  return (
    <DialogButton label={label} variant={variant}>
      {(close) => <ActionForm {...props} close={close} />}
    </DialogButton>
  );
}

/** The form of an action, where the dialog has more than it. */
export function ActionForm<Name extends string, Reply>({
  label,
  action = label,
  fields,
  send,
  onDone,
  effect,
  colour,
  close,
}: Props<Name, Reply> & { close: () => void }) {
  const specs = Object.entries(fields) as [Name, FieldSpec][];
  const [key] = useState(newRequestKey);
  const watched = useWatched();
  const form = useForm<Record<string, string>>({
    initialValues: Object.fromEntries(specs.map(([name, spec]) => [name, initialOf(spec)])),
  });
  return (
    <SendForm
      form={form}
      action={action}
      {...(colour ? { colour } : {})}
      send={async (values) => {
        await watched?.check();
        return send(typedOf(specs, values), key);
      }}
      onDone={async (reply) => {
        close();
        await onDone?.(reply);
      }}
    >
      {effect}
      {specs.map(([name, spec], index) => (
        <Field key={name} name={name} spec={spec} form={form} isFirst={index === 0} />
      ))}
    </SendForm>
  );
}

export function initialOf({ kind, choices, initial }: FieldSpec): string {
  return initial ?? (kind === 'choice' ? (choices?.[0]?.value ?? '') : '');
}

export function typedOf<Name extends string>(
  specs: readonly (readonly [Name, FieldSpec])[],
  values: Record<string, string>,
): Typed<Name> {
  const entries = specs.map(([name, { kind }]) => {
    const value = (values[name] ?? '').trim();
    if (value === '') return [name, undefined];
    return [name, kind === 'date' ? toWire(value) : value];
  });
  return Object.fromEntries(entries);
}

/** With a stored value that is not among them, so that the form shows it and does not change it. */
function offeredOf(choices: NonNullable<FieldSpec['choices']>, value = '') {
  const isOffered = value === '' || choices.some((one) => one.value === value);
  return isOffered ? [...choices] : [...choices, { value, label: value }];
}

export function Field({
  name,
  spec,
  form,
  isFirst,
}: {
  name: string;
  spec: FieldSpec;
  form: UseFormReturnType<Record<string, string>>;
  isFirst: boolean;
}) {
  const { label, kind = 'text', choices = [], hint, required = false, onChange } = spec;
  const common = {
    label,
    required,
    ...(hint ? { description: hint } : {}),
    ...(isFirst ? { 'data-autofocus': true } : {}),
    ...form.getInputProps(name),
  };
  if (kind === 'choice') {
    return (
      <NativeSelect
        {...common}
        data={offeredOf(choices, form.values[name])}
        onChange={(event) => {
          form.setFieldValue(name, event.currentTarget.value);
          onChange?.(event.currentTarget.value);
        }}
      />
    );
  }
  if (kind === 'long') return <Textarea {...common} autosize minRows={2} />;
  if (kind === 'yes') {
    return (
      <Checkbox
        label={label}
        {...(hint ? { description: hint } : {})}
        checked={form.values[name] === 'yes'}
        onChange={(event) => form.setFieldValue(name, event.currentTarget.checked ? 'yes' : '')}
      />
    );
  }
  if (kind === 'password') return <PasswordInput {...common} />;
  if (kind === 'date') return <TextInput {...common} type="date" />;
  return (
    <TextInput {...common} {...(kind === 'amount' ? { inputMode: 'decimal' as const } : {})} />
  );
}
