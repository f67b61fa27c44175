// Creates a term: the service, the batch and the days that it bills.
import { Button, Group, Modal, NativeSelect, Stack, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { problemOf } from '../../api/problem.ts';
import { batchesQuery, queries } from '../../api/queries.ts';
import { Empty, Loading, Refusal } from '../../parts/notes.tsx';

export function NewTerm() {
  const { t } = useTranslation();
  const [isOpen, { open, close }] = useDisclosure();
  return (
    <>
      <Button onClick={open}>{t('newTerm.title')}</Button>
      <Modal
        opened={isOpen}
        onClose={close}
        title={t('newTerm.title')}
        closeButtonProps={{ 'aria-label': t('close') }}
      >
        <Form />
      </Modal>
    </>
  );
}

type Fields = { batch: string; label: string; start: string; end: string; due: string };

function Form() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const batches = useQuery(batchesQuery);
  const [fields, setFields] = useState<Fields>(lastMonth);
  const making = useMutation({
    mutationFn: async () => {
      const [serviceCode = '', batchCode = ''] = batchOf(fields, batches.data).split(' ');
      const { headers } = await api.makeTerm({
        operation: 'schedule',
        data: {
          serviceCode,
          batchCode,
          label: fields.label,
          startDate: wire(fields.start),
          endDate: wire(fields.end),
          ...(fields.due === '' ? {} : { dueDate: wire(fields.due) }),
        },
      });
      return headers.get('x-term-id') ?? '';
    },
    onSuccess: async (termID) => {
      await queries.invalidateQueries();
      await navigate({ to: '/terms/$termID', params: { termID } });
    },
  });
  if (batches.isPending) return <Loading />;
  if (batches.isError) return <Refusal error={batches.error} />;
  if (batches.data.length === 0) {
    return <Empty title={t('newTerm.noBatch')}>{t('newTerm.noBatchHint')}</Empty>;
  }
  const wrong: Record<string, string> = making.isError ? problemOf(making.error).fields : {};
  const change = (part: Partial<Fields>) => setFields({ ...fields, ...part });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    making.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <NativeSelect
          label={t('newTerm.batch')}
          value={batchOf(fields, batches.data)}
          onChange={(event) => change({ batch: event.currentTarget.value })}
          data={batches.data.map(({ serviceCode, batchCode, label }) => ({
            value: `${serviceCode} ${batchCode}`,
            label: `${serviceCode} · ${batchCode} · ${label}`,
          }))}
          error={wrong.serviceCode ?? wrong.batchCode}
        />
        <TextInput
          label={t('terms.label')}
          required
          value={fields.label}
          onChange={(event) => change({ label: event.currentTarget.value })}
          error={wrong.label}
        />
        <Group grow align="flex-start">
          <TextInput
            type="date"
            label={t('newTerm.start')}
            required
            value={fields.start}
            onChange={(event) => change({ start: event.currentTarget.value })}
            error={wrong.startDate}
          />
          <TextInput
            type="date"
            label={t('newTerm.end')}
            required
            value={fields.end}
            onChange={(event) => change({ end: event.currentTarget.value })}
            error={wrong.endDate}
          />
        </Group>
        <TextInput
          type="date"
          label={t('terms.due')}
          description={t('newTerm.dueHint')}
          value={fields.due}
          onChange={(event) => change({ due: event.currentTarget.value })}
          error={wrong.dueDate}
        />
        {making.isError && <Refusal error={making.error} />}
        <Group justify="flex-end">
          <Button type="submit" loading={making.isPending}>
            {t('newTerm.make')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

type Batch = { serviceCode: string; batchCode: string };

/** The chosen one, or the first of the list. */
function batchOf({ batch }: Fields, all: readonly Batch[] = []): string {
  const [first] = all;
  return batch === '' && first ? `${first.serviceCode} ${first.batchCode}` : batch;
}

/** The month before this one, which is what most operators bill. */
function lastMonth(): Fields {
  const now = new Date();
  const start = new Date(Date.UTC(now.getFullYear(), now.getMonth() - 1, 1));
  const end = new Date(Date.UTC(now.getFullYear(), now.getMonth(), 0));
  const format = new Intl.DateTimeFormat('en', {
    month: 'short',
    year: 'numeric',
    timeZone: 'UTC',
  });
  const day = (date: Date) => date.toISOString().slice(0, 10);
  return { batch: '', label: format.format(start), start: day(start), end: day(end), due: '' };
}

/** 2026-07-31 of the browser's field as the API writes it: 31/07/2026. */
function wire(date: string): string {
  return date.split('-').reverse().join('/');
}
