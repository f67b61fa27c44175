// Generates several bills of a term again, one after the other: each is a job of its own.
import { Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { Refusal } from '../../parts/notes.tsx';
import { useSend } from '../../parts/send-form.tsx';

export function GenerateAgain({ termID, billIDs }: { termID: number; billIDs: readonly number[] }) {
  const { t } = useTranslation();
  const [done, setDone] = useState(0);
  const making = useSend(async (bills: readonly number[]) => {
    for (const [index, billId] of bills.entries()) {
      setDone(index);
      await api.generateBills({ operation: 'schedule', data: { termID }, billId });
    }
    return { message: t('exceptions.wasMade', { count: bills.length }) };
  });
  return (
    <>
      <Group gap="sm">
        <Button
          size="xs"
          variant="default"
          loading={making.isPending}
          onClick={() => making.mutate(billIDs)}
        >
          {t('exceptions.againAll', { count: billIDs.length })}
        </Button>
        {making.isPending && (
          <Text size="sm" role="status">
            {t('jobs.done', { done, total: making.variables.length })}
          </Text>
        )}
      </Group>
      {making.isError && <Refusal error={making.error} />}
    </>
  );
}
