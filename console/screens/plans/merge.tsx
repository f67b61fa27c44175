// Another person saved the plan: their changes beside mine, and a choice for each.
import {
  Badge,
  Button,
  Card,
  Group,
  SegmentedControl,
  SimpleGrid,
  Stack,
  Text,
} from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Plan } from '../../api/queries/plans.ts';
import { flat } from '../../parts/changes.tsx';
import { shownTime } from '../../parts/days.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { type MergePart, merged, partsOf, type Side, usualSide } from './merge-drafts.ts';
import { draftOf, type PlanDraft } from './plan-draft.ts';

type Props = {
  base: Plan;
  mine: PlanDraft;
  theirs: Plan | null;
  onClose: () => void;
  onMerged: (theirs: Plan, draft: PlanDraft) => void;
};

export function Merge({ theirs, onClose, ...rest }: Props) {
  const { t } = useTranslation();
  return (
    <Dialog title={t('merge.title')} isOpen={theirs !== null} onClose={onClose} size="xl">
      {theirs && <Parts {...rest} theirs={theirs} />}
    </Dialog>
  );
}

function Parts({ base, mine, theirs, onMerged }: Omit<Props, 'onClose'> & { theirs: Plan }) {
  const { t } = useTranslation();
  const [other] = useState(() => draftOf(theirs));
  const parts = partsOf(draftOf(base), mine, other);
  const [sides, setSides] = useState(
    () => new Map<string, Side>(parts.map((part) => [part.key, usualSide(part)])),
  );
  return (
    <Stack>
      <Text size="sm">
        {t('merge.hint', { name: theirs.modifiedBy, time: shownTime(theirs.modifiedAt) })}
      </Text>
      {parts.map((part) => (
        <Part
          key={part.key}
          part={part}
          name={theirs.modifiedBy ?? ''}
          side={sides.get(part.key) ?? 'mine'}
          onChoose={(side) => setSides(new Map(sides).set(part.key, side))}
        />
      ))}
      <Group justify="flex-end">
        <Button onClick={() => onMerged(theirs, merged(mine, other, sides))}>
          {t('merge.take')}
        </Button>
      </Group>
    </Stack>
  );
}

function Part({
  part,
  name,
  side,
  onChoose,
}: {
  part: MergePart;
  name: string;
  side: Side;
  onChoose: (side: Side) => void;
}) {
  const { t } = useTranslation();
  const [kind = '', ...rest] = part.key.split(' ');
  const title = [t(`mergePart.${kind}`), ...rest].join(' ');
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
