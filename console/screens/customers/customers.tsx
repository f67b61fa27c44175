// Customers, found by name.
import { Button, Checkbox, Group, TextInput } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { customerPages } from '../../api/queries/customers.ts';
import { mayUse } from '../../api/session.ts';
import { List } from '../../parts/list.tsx';
import { Empty } from '../../parts/notes.tsx';
import { Page } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { NewCustomer } from './customer-actions.tsx';

export function Customers() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { name = '', archived } = useSearch({ from: '/inside/customers' });
  const [typed, setTyped] = useState(name);
  return (
    <Page title={t('customers.title')} actions={mayUse('parties:write') && <NewCustomer />}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          navigate({
            to: '/customers',
            search: { ...(archived ? { archived } : {}), ...(typed === '' ? {} : { name: typed }) },
          });
        }}
      >
        <Group align="flex-end" gap="xs">
          <TextInput
            label={t('customers.search')}
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            w={320}
            type="search"
          />
          <Button type="submit" variant="default">
            {t('customers.find')}
          </Button>
          <Checkbox
            label={t('customers.archivedToo')}
            mb={8}
            checked={archived !== undefined}
            onChange={(event) =>
              navigate({
                to: '/customers',
                search: {
                  ...(name === '' ? {} : { name }),
                  ...(event.currentTarget.checked ? { archived: 'yes' } : {}),
                },
              })
            }
          />
        </Group>
      </form>
      <List
        pages={customerPages({ name, includeArchived: archived !== undefined })}
        label={t('customers.title')}
        rowKey={(user) => user.partyID ?? 0}
        empty={<Empty title={t('customers.none')}>{t('customers.noneHint')}</Empty>}
        columns={[
          {
            key: 'name',
            label: t('customers.name'),
            text: (user) => user.name,
            show: (user) => (
              <PageLink
                to="/customers/$partyNumber"
                params={{ partyNumber: String(user.partyNumber) }}
              >
                {user.name}
              </PageLink>
            ),
          },
          { key: 'number', label: t('customers.number'), show: (user) => user.partyNumber },
          { key: 'email', label: t('customers.email'), show: (user) => user.email },
          {
            key: 'type',
            label: t('customers.type'),
            text: (user) => user.userType,
            show: ({ userType }) => t(`partyKind.${userType}`, { defaultValue: userType }),
          },
        ]}
      />
    </Page>
  );
}
