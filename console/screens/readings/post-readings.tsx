// Locks the readings with which the term is billed, and unlocks them.
import { Button, Card, Group, Radio, Stack, Text, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import type { DataOf } from '../../../sdk/client.ts';
import { api } from '../../api/client.ts';
import { Refusal } from '../../parts/notes.tsx';
import { SendForm, useSend } from '../../parts/send-form.tsx';

const modes = ['current', 'estimated', 'previous'] as const;

export function PostReadings({
  term: { termID, stage },
  unread,
}: {
  term: DataOf<'getBillTerm'>['term'];
  unread: number;
}) {
  const { t } = useTranslation();
  const form = useForm({ initialValues: { reading: 'current' } });
  const posting = useSend(({ reading }: { reading: string }) =>
    api.postMeterReadings({ operation: 'schedule', data: { termID, reading } }),
  );
  const unposting = useSend(() => api.unpostMeterReadings({ data: { termID } }));
  const isPosted = !['Created', 'ReadingsUploaded'].includes(stage);
  return (
    <Card withBorder className="no-print">
      <Stack gap="sm">
        <Title order={2} size="h4">
          {t('readings.post')}
        </Title>
        <SendForm
          form={form}
          send={(values) => posting.mutateAsync(values)}
          onDone={() => form.resetDirty()}
          action={t('readings.postAction')}
        >
          <Radio.Group
            label={t('readings.without', { count: unread })}
            {...form.getInputProps('reading')}
          >
            <Stack gap={6} mt={4}>
              {modes.map((mode) => (
                <Radio key={mode} value={mode} label={t(`readingMode.${mode}`)} />
              ))}
            </Stack>
          </Radio.Group>
        </SendForm>
        {posting.isSuccess && (
          <Text size="sm" role="status">
            {posting.data.message}
          </Text>
        )}
        {isPosted && (
          <Group>
            <Button
              variant="default"
              loading={unposting.isPending}
              onClick={() => unposting.mutate(undefined)}
            >
              {t('readings.unpost')}
            </Button>
          </Group>
        )}
        {unposting.isError && <Refusal error={unposting.error} />}
      </Stack>
    </Card>
  );
}
