// Customers, found by name.
import { Button, Group, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { customersQuery } from '../../api/queries.ts';
import { List } from '../../parts/list.tsx';
import { Empty } from '../../parts/notes.tsx';
import { Page } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';

export function Customers() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { name = '', page = 0 } = useSearch({ from: '/inside/customers' });
  const [typed, setTyped] = useState(name);
  const customers = useQuery(customersQuery(name, page));
  return (
    <Page title={t('customers.title')}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          navigate({ to: '/customers', search: typed === '' ? {} : { name: typed } });
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
        </Group>
      </form>
      <List
        query={customers}
        label={t('customers.title')}
        rowKey={(user) => user.partyID ?? 0}
        page={page}
        onPage={(next) =>
          navigate({
            to: '/customers',
            search: { page: next, ...(name === '' ? {} : { name }) },
          })
        }
        empty={<Empty title={t('customers.none')}>{t('customers.noneHint')}</Empty>}
        columns={[
          {
            key: 'name',
            label: t('customers.name'),
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
          { key: 'type', label: t('customers.type'), show: (user) => user.userType },
        ]}
      />
    </Page>
  );
}
