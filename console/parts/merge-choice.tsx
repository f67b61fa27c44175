// One thing that two people changed: how it was, what each of them made of it, and which one stays.
import { Badge, Card, Group, SegmentedControl, SimpleGrid, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { flat } from './changes.tsx';

export type Side = 'mine' | 'theirs';

export function MergeChoice({
  title,
  name,
  part,
  side,
  onChoose,
}: {
  title: string;
  /** Of the other person. */
  name: string;
  part: { base: unknown; mine: unknown; theirs: unknown; isConflict: boolean };
  side: Side;
  onChoose: (side: Side) => void;
}) {
  const { t } = useTranslation();
  return (
    <Card withBorder padding="sm" component="section" aria-label={title}>
      <Group justify="space-between" mb="xs">
        <Group gap="xs">
          <Text fw={600}>{title}</Text>
          {part.isConflict && (
            <Badge color="orange" variant="dot" tt="none">
              {t('merge.both')}
            </Badge>
          )}
        </Group>
        <SegmentedControl
          size="xs"
          aria-label={title}
          value={side}
          onChange={(value) => onChoose(value as Side)}
          data={[
            { value: 'mine', label: t('merge.mine') },
            { value: 'theirs', label: t('merge.theirs', { name }) },
          ]}
        />
      </Group>
      <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="xs">
        <Told label={t('merge.before')} value={part.base} />
        <Told label={t('merge.mine')} value={part.mine} />
        <Told label={t('merge.theirs', { name })} value={part.theirs} />
      </SimpleGrid>
    </Card>
  );
}

function Told({ label, value }: { label: string; value: unknown }) {
  const { t } = useTranslation();
  const lines = [...flat(value)].map(([path, text]) => (path === '' ? text : `${path}: ${text}`));
  return (
    <div>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text size="sm" className="breaks">
        {lines.length === 0 ? t('merge.absent') : lines.join('\n')}
      </Text>
    </div>
  );
}
