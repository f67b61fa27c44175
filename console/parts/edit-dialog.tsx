// A button that opens the fields of something that others may change too.
import { useForm } from '@mantine/form';
import { Field, type FieldSpec, initialOf, type Typed, typedOf } from './action-dialog.tsx';
import { DialogButton } from './dialog.tsx';
import { useEdited } from './edited.tsx';
import { SendForm } from './send-form.tsx';

type Props<Name extends string, Seen, Reply> = {
  label: string;
  object: Seen;
  fieldsOf: (object: Seen) => Record<Name, FieldSpec>;
  /** As the server has it now. */
  load: () => Promise<Seen>;
  /** `seen` is what the fields began with. */
  send: (typed: Typed<Name>, seen: Seen) => Promise<Reply>;
};

export function EditDialog<Name extends string, Seen extends { ts?: unknown }, Reply>(
  props: Props<Name, Seen, Reply>,
) {
  return (
    <DialogButton label={props.label} variant="default">
      {(close) => <EditForm {...props} close={close} />}
    </DialogButton>
  );
}

export function EditForm<Name extends string, Seen extends { ts?: unknown }, Reply>({
  label,
  object,
  fieldsOf,
  load,
  send,
  close,
}: Props<Name, Seen, Reply> & { close: () => void }) {
  const specs = Object.entries(fieldsOf(object)) as [Name, FieldSpec][];
  const valuesOf = (from: Seen) =>
    Object.fromEntries(
      (Object.entries(fieldsOf(from)) as [Name, FieldSpec][]).map(([name, spec]) => [
        name,
        initialOf(spec),
      ]),
    );
  const form = useForm<Record<string, string>>({ initialValues: valuesOf(object) });
  const labels = new Map<string, string>(specs.map(([name, spec]) => [name, spec.label]));
  const edited = useEdited({
    form,
    object,
    valuesOf,
    load,
    labelOf: (name) => labels.get(name) ?? name,
  });
  return (
    <SendForm
      form={form}
      action={label}
      send={edited.send((values, seen) => send(typedOf(specs, values), seen))}
      onDone={close}
    >
      {specs.map(([name, spec], index) => (
        <Field key={name} name={name} spec={spec} form={form} isFirst={index === 0} />
      ))}
      {edited.merge}
    </SendForm>
  );
}
