// People who log in, and their roles.
import {
  Checkbox,
  Group,
  NativeSelect,
  PasswordInput,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { type Login, loginPages } from '../../api/queries/admin.ts';
import { mayUse } from '../../api/session.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import type { Column } from '../../parts/columns.ts';
import { DialogButton } from '../../parts/dialog.tsx';
import { useEdited } from '../../parts/edited.tsx';
import { List } from '../../parts/list.tsx';
import { Empty } from '../../parts/notes.tsx';
import { SendForm } from '../../parts/send-form.tsx';
import { Status } from '../../parts/status.tsx';

export const roleNames = [
  'Administrator',
  'Billing Manager',
  'Billing Operator',
  'Meter Reader',
  'Cashier',
  'Accountant',
  'Auditor',
  'Customer',
] as const;
type Role = (typeof roleNames)[number];

export function Logins() {
  const { t } = useTranslation();
  return (
    <List
      pages={loginPages}
      columns={useColumns()}
      rowKey={(login) => login.userID}
      label={t('settings.tabs.logins')}
      empty={<Empty title={t('logins.none')} />}
      tools={
        mayUse('access:write') && (
          <DialogButton label={t('logins.new')}>
            {(close) => <NewLogin onDone={close} />}
          </DialogButton>
        )
      }
    />
  );
}

function useColumns(): Column<Login>[] {
  const { t } = useTranslation();
  return [
    { key: 'username', label: t('login.username'), show: (login) => login.username },
    {
      key: 'name',
      label: t('customers.name'),
      text: (login) => login.name,
      show: (login) => <span translate="no">{login.name}</span>,
    },
    {
      key: 'roles',
      label: t('logins.roles'),
      show: (login) => login.roles.map((role) => t(`role.${role}`)).join(', '),
    },
    { key: 'party', label: t('logins.party'), show: (login) => login.partyNumber },
    {
      key: 'status',
      label: t('terms.status'),
      text: (login) => login.status,
      show: (login) => <Status value={login.status === 'ACTIVE' ? 'Active' : 'Closed'} />,
    },
    {
      key: 'change',
      label: t('logins.action'),
      text: () => '',
      show: (login) =>
        mayUse('access:write') && (
          <Group gap="xs" wrap="nowrap">
            <DialogButton
              label={t('logins.change')}
              title={t('logins.changeOf', { name: login.name })}
              variant="default"
            >
              {(close) => <ChangeLogin login={login} onDone={close} />}
            </DialogButton>
            <ActionDialog
              label={t('secondFactor.off')}
              effect={<Text size="sm">{t('secondFactor.offEffect', { name: login.name })}</Text>}
              fields={{}}
              send={() => api.resetTotp({ data: { username: login.username } })}
            />
          </Group>
        ),
    },
  ];
}

export function Roles({ offered, ...props }: { offered: readonly string[] }) {
  const { t } = useTranslation();
  return (
    <Checkbox.Group label={t('logins.roles')} {...props}>
      <Stack gap={6} mt="xs">
        {offered.map((role) => (
          <Checkbox key={role} value={role} label={t(`role.${role}`)} />
        ))}
      </Stack>
    </Checkbox.Group>
  );
}

function NewLogin({ onDone }: { onDone: () => void }) {
  const { t } = useTranslation();
  const form = useForm({
    initialValues: {
      username: '',
      name: '',
      email: '',
      password: '',
      roles: [] as string[],
      partyNumber: '',
    },
  });
  const send = ({ roles, email, partyNumber, ...rest }: typeof form.values) =>
    api.makeLogins({
      logins: [
        {
          ...rest,
          roles: roles as Role[],
          ...(email === '' ? {} : { email }),
          ...(partyNumber === '' ? {} : { partyNumber: Number(partyNumber) }),
        },
      ],
    });
  return (
    <SendForm form={form} send={send} action={t('logins.make')} onDone={onDone}>
      <TextInput
        label={t('login.username')}
        required
        data-autofocus
        {...form.getInputProps('username')}
      />
      <TextInput label={t('customers.name')} required {...form.getInputProps('name')} />
      <TextInput label={t('customers.email')} {...form.getInputProps('email')} />
      <PasswordInput
        label={t('login.password')}
        required
        autoComplete="new-password"
        visibilityToggleButtonProps={{ 'aria-label': t('login.show') }}
        {...form.getInputProps('password')}
      />
      <Roles offered={roleNames} {...form.getInputProps('roles')} />
      <TextInput
        label={t('logins.party')}
        description={t('logins.partyHint')}
        {...form.getInputProps('partyNumber')}
      />
    </SendForm>
  );
}

function changeableOf({ roles, status }: Login) {
  return { roles, status, password: '' };
}

async function find(login: Login): Promise<Login> {
  const { logins } = (await api.getLogins({ username: login.username })).data;
  return logins.find((one) => one.userID === login.userID) ?? login;
}

function ChangeLogin({ login, onDone }: { login: Login; onDone: () => void }) {
  const { t } = useTranslation();
  const form = useForm({ initialValues: changeableOf(login) });
  const edited = useEdited({
    form,
    object: login,
    valuesOf: changeableOf,
    load: () => find(login),
    labelOf: (name) =>
      t({ roles: 'logins.roles', status: 'terms.status' }[name as string] ?? 'logins.newPassword'),
  });
  const send = ({ roles, status, password }: typeof form.values, seen: Login) =>
    api.updateLogin({
      data: {
        username: login.username,
        roles: roles as Role[],
        status: status as 'ACTIVE',
        ...(password === '' ? {} : { password }),
        ts: seen.ts,
      },
    });
  return (
    <SendForm
      form={form}
      send={edited.send(send)}
      action={t('logins.save')}
      done={t('logins.saved')}
      onDone={onDone}
    >
      <Roles offered={roleNames} {...form.getInputProps('roles')} />
      <NativeSelect
        label={t('terms.status')}
        data={[
          { value: 'ACTIVE', label: t('logins.active') },
          { value: 'INACTIVE', label: t('logins.inactive') },
        ]}
        {...form.getInputProps('status')}
      />
      <PasswordInput
        label={t('logins.newPassword')}
        description={t('logins.newPasswordHint')}
        autoComplete="new-password"
        visibilityToggleButtonProps={{ 'aria-label': t('login.show') }}
        {...form.getInputProps('password')}
      />
      {edited.merge}
    </SendForm>
  );
}
