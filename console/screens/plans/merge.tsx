// Another person saved the plan: their changes beside mine, and a choice for each.
import { Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Plan } from '../../api/queries/plans.ts';
import { shownTime } from '../../parts/days.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { MergeChoice, type Side } from '../../parts/merge-choice.tsx';
import { merged, partsOf, usualSide } from './merge-drafts.ts';
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
  const titleOf = (key: string) => {
    const [kind = '', ...rest] = key.split(' ');
    return [t(`mergePart.${kind}`), ...rest].join(' ');
  };
  const [sides, setSides] = useState(
    () => new Map<string, Side>(parts.map((part) => [part.key, usualSide(part)])),
  );
  return (
    <Stack>
      <Text size="sm">
        {t('merge.hint', { name: theirs.modifiedBy, time: shownTime(theirs.modifiedAt) })}
      </Text>
      {parts.map((part) => (
        <MergeChoice
          key={part.key}
          title={titleOf(part.key)}
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
