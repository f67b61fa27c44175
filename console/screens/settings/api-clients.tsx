// Programs that call the API with a secret of their own.
import { NativeSelect, TagsInput, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { type ApiClient, clientPages } from '../../api/queries/admin.ts';
import { mayUse } from '../../api/session.ts';
import { DialogButton } from '../../parts/dialog.tsx';
import { useEdited } from '../../parts/edited.tsx';
import { List } from '../../parts/list.tsx';
import { Empty } from '../../parts/notes.tsx';
import { SendForm } from '../../parts/send-form.tsx';
import { Status } from '../../parts/status.tsx';
import { Roles, roleNames } from './logins.tsx';

const clientRoles = roleNames.filter((name) => name !== 'Customer');
type Role = Exclude<(typeof roleNames)[number], 'Customer'>;

export function ApiClients() {
  const { t } = useTranslation();
  const mayWrite = mayUse('access:write');
  const make = mayWrite && (
    <DialogButton label={t('clients.new')}>
      {(close) => <ClientForm client={null} onDone={close} />}
    </DialogButton>
  );
  return (
    <List
      pages={clientPages}
      columns={[
        { key: 'id', label: t('clients.id'), show: (client) => client.clientID },
        {
          key: 'roles',
          label: t('logins.roles'),
          show: (client) => client.roles.map((role) => t(`role.${role}`)).join(', '),
        },
        { key: 'expires', label: t('clients.expires'), show: (client) => client.expiresAt },
        {
          key: 'addresses',
          label: t('clients.addresses'),
          show: (client) => client.allowedAddresses.join(', '),
        },
        {
          key: 'status',
          label: t('terms.status'),
          text: (client) => client.status,
          show: (client) => <Status value={client.status === 'ACTIVE' ? 'Active' : 'Closed'} />,
        },
        {
          key: 'change',
          label: t('logins.action'),
          text: () => '',
          show: (client) =>
            mayWrite && (
              <DialogButton label={t('logins.change')} title={client.clientID} variant="default">
                {(close) => <ClientForm client={client} onDone={close} />}
              </DialogButton>
            ),
        },
      ]}
      rowKey={(client) => client.clientID}
      label={t('settings.tabs.clients')}
      empty={
        <Empty title={t('clients.none')} action={make}>
          {t('clients.noneHint')}
        </Empty>
      }
      tools={make}
    />
  );
}

/** Made in the browser: the server keeps its hash alone. */
function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

type Values = {
  clientID: string;
  clientSecret: string;
  roles: string[];
  status: string;
  allowedAddresses: string[];
};

const labels: Record<keyof Values, string> = {
  clientID: 'clients.id',
  clientSecret: 'clients.secret',
  roles: 'logins.roles',
  status: 'terms.status',
  allowedAddresses: 'clients.addresses',
};

function valuesOf(client: Partial<ApiClient>): Values {
  const { clientID = '', roles = [], status = 'ACTIVE', allowedAddresses = [] } = client;
  return { clientID, clientSecret: '', roles, status, allowedAddresses };
}

async function find(client: ApiClient): Promise<ApiClient> {
  const { clients } = (await api.getClients({})).data;
  return clients.find((one) => one.clientID === client.clientID) ?? client;
}

function ClientForm({ client, onDone }: { client: ApiClient | null; onDone: () => void }) {
  const { t } = useTranslation();
  const form = useForm<Values>({
    initialValues: client ? valuesOf(client) : { ...valuesOf({}), clientSecret: newSecret() },
  });
  const edited = useEdited<Partial<ApiClient>, Values>({
    form,
    object: client ?? {},
    valuesOf,
    load: async () => (client && (await find(client))) ?? {},
    labelOf: (name) => t(labels[name]),
  });
  const send = (
    { clientID, clientSecret, roles, status, allowedAddresses }: Values,
    seen: Partial<ApiClient>,
  ) => {
    const fields = { clientID, roles: roles as Role[], allowedAddresses };
    if (!client) return api.makeClients({ clients: [{ ...fields, clientSecret }] });
    const secret = clientSecret === '' ? {} : { clientSecret };
    return api.updateClient({
      data: { ...fields, ...secret, status: status as 'ACTIVE', ts: seen.ts },
    });
  };
  return (
    <SendForm
      form={form}
      send={edited.send(send)}
      action={client ? t('logins.save') : t('clients.make')}
      onDone={onDone}
    >
      <TextInput
        label={t('clients.id')}
        required
        readOnly={client !== null}
        {...form.getInputProps('clientID')}
      />
      <TextInput
        label={t('clients.secret')}
        description={client ? t('clients.secretLater') : t('clients.secretHint')}
        {...form.getInputProps('clientSecret')}
      />
      <Roles offered={clientRoles} {...form.getInputProps('roles')} />
      <TagsInput
        label={t('clients.addresses')}
        description={t('clients.addressesHint')}
        {...form.getInputProps('allowedAddresses')}
      />
      {client && (
        <NativeSelect
          label={t('terms.status')}
          data={[
            { value: 'ACTIVE', label: t('logins.active') },
            { value: 'INACTIVE', label: t('logins.inactive') },
          ]}
          {...form.getInputProps('status')}
        />
      )}
      {edited.merge}
    </SendForm>
  );
}
