// A form that sends one call. What the server refuses is shown at its field, and nothing typed is
// lost.
import { Button, Group, Stack } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { problemOf } from '../api/problem.ts';
import { queries } from '../api/queries/base.ts';
import { watchJobs } from '../api/queries/jobs.ts';
import { Refusal } from './notes.tsx';
import { useUnsaved } from './unsaved.ts';

export function SendForm<Values extends Record<string, unknown>, Reply>({
  form,
  send,
  action,
  done,
  onDone,
  placesOf = (fields) => fields,
  isReady = true,
  colour,
  children,
}: {
  form: UseFormReturnType<Values>;
  send: (values: Values) => Promise<Reply>;
  /** What the button says: the consequence, such as "Post 12 bills". */
  action: string;
  /** The confirmation after success. Left out: the message of the server. */
  done?: string;
  onDone?: (reply: Reply) => unknown;
  /** Where the form has other names for its fields than the call. */
  placesOf?: (fields: Record<string, string>) => Record<string, string>;
  /** False while a required field is empty, or nothing was changed. */
  isReady?: boolean;
  colour?: string;
  children: ReactNode;
}) {
  const wasSent = useUnsaved(form.isDirty(), form.values);
  const sending = useSend(send, {
    done,
    onDone: (reply) => {
      wasSent();
      return onDone?.(reply);
    },
    onRefused: (fields) => form.setErrors(placesOf(fields)),
  });
  return (
    <form
      noValidate
      onSubmit={form.onSubmit((values) => {
        if (isReady && !sending.isPending) sending.mutate(values);
      })}
    >
      <Stack gap="sm">
        {children}
        {sending.isError && <Refusal error={sending.error} />}
        <Group justify="flex-end">
          <Button
            type="submit"
            disabled={!isReady}
            loading={sending.isPending}
            {...(colour ? { color: colour } : {})}
          >
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** Sends a call; after it every list and figure on the page is read again. */
export function useSend<Values, Reply>(
  send: (values: Values) => Promise<Reply>,
  {
    done,
    onDone,
    onRefused,
  }: {
    done?: string | undefined;
    onDone?: ((reply: Reply) => unknown) | undefined;
    onRefused?: (fields: Record<string, string>) => void;
  } = {},
) {
  const { t } = useTranslation();
  return useMutation({
    mutationFn: send,
    onMutate: watchJobs,
    onSuccess: async (reply) => {
      const message = done ?? messageIn(reply);
      if (message !== undefined) {
        notifications.show({
          message,
          color: 'teal',
          closeButtonProps: { 'aria-label': t('close') },
        });
      }
      await onDone?.(reply);
    },
    onError: (error) => onRefused?.(problemOf(error).fields),
    onSettled: () => queries.invalidateQueries(),
  });
}

function messageIn(reply: unknown): string | undefined {
  const { message } = (reply ?? {}) as { message?: unknown };
  return typeof message === 'string' && message !== '' ? message : undefined;
}
