// A state by word and shape, never by colour alone.
import { Badge } from '@mantine/core';
import { useTranslation } from 'react-i18next';

const colours: Record<string, string> = {
  Paid: 'teal',
  Published: 'teal',
  Distributed: 'teal',
  Succeeded: 'teal',
  Active: 'teal',
  Accepted: 'teal',
  Sent: 'teal',
  Delivered: 'teal',
  Posted: 'blue',
  Running: 'blue',
  Overdue: 'red',
  Error: 'red',
  Failed: 'red',
  Hold: 'orange',
  Review: 'orange',
  Uncertain: 'orange',
  PartiallyPaid: 'orange',
  Disconnected: 'orange',
  Paused: 'orange',
  Disabled: 'red',
  Dead: 'red',
  Refused: 'red',
};

export function Status({ value }: { value: string }) {
  const { t } = useTranslation();
  return (
    <Badge miw="max-content" variant="dot" color={colours[value] ?? 'gray'} size="sm" tt="none">
      {t(`status.${value}`, { defaultValue: value })}
    </Badge>
  );
}
