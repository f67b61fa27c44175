// Every step of a term with its state, what is left to do there, and the way to it.
import { Badge, Card, Group, SimpleGrid, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { DataOf } from '../../../sdk/client.ts';
import { troubleCountQuery } from '../../api/queries/deliveries.ts';
import { reviewCountQuery } from '../../api/queries/readings.ts';
import { mayUse } from '../../api/session.ts';
import { PageLink } from '../../parts/page-link.tsx';
import { progressOf, type StepKey } from '../../parts/steps.tsx';
import { type TermStep, termSteps } from './term-steps.ts';

type TermData = DataOf<'getBillTerm'>;
type Props = { term: TermData['term']; summary: TermData['summary'] };
type State = 'done' | 'under way' | 'open' | 'again';

/** What the stage of the term says about each step; the others are known by their counts. */
const stageOf: Partial<Record<TermStep, StepKey>> = {
  readings: 'readings',
  values: 'values',
  generate: 'generate',
  send: 'distribute',
};

export function StepCards({ term, summary }: Props) {
  const { t } = useTranslation();
  const left = useWorkLeft({ term, summary });
  const progress = new Map(progressOf(term.stage).map((one) => [one.key, one.progress]));
  const isGenerated = progress.get('generate') === 'done';
  const stateOf = (key: TermStep): State => {
    if (key === 'generate' && term.stale) return 'again';
    if (key === 'population') return 'done';
    const step = stageOf[key];
    if (step) return progress.get(step) ?? 'open';
    if ((left[key] ?? 0) > 0) return 'open';
    return key === 'review' || isGenerated ? 'done' : 'open';
  };
  return (
    <SimpleGrid
      component="ol"
      cols={{ base: 1, xs: 2, md: 4 }}
      spacing="xs"
      m={0}
      p={0}
      aria-label={t('terms.steps')}
    >
      {termSteps
        .filter(({ permission }) => mayUse(permission))
        .map(({ key, path }, index) => (
          <StepCard
            key={key}
            number={index + 1}
            step={key}
            state={stateOf(key)}
            left={left[key] ?? 0}
            to={`/terms/${term.termID}/${path}`}
          />
        ))}
    </SimpleGrid>
  );
}

const colours = { done: 'teal', 'under way': 'blue', open: 'gray', again: 'orange' } as const;

function StepCard({
  number,
  step,
  state,
  left,
  to,
}: {
  number: number;
  step: TermStep;
  state: State;
  left: number;
  to: string;
}) {
  const { t } = useTranslation();
  return (
    <Card component="li" withBorder padding="xs" style={{ listStyle: 'none' }}>
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <PageLink to={to as '/'} fw={600}>
          {number} {t(`termSteps.${step}`)}
        </PageLink>
        {left > 0 ? (
          <Text size="sm" c="var(--mantine-color-error)" fw={700}>
            {t('term.left', { count: left })}
          </Text>
        ) : (
          <Badge variant="dot" color={colours[state]} size="sm" tt="none">
            {t(`progress.${state}`)}
          </Badge>
        )}
      </Group>
    </Card>
  );
}

function useWorkLeft({ term, summary }: Props): Partial<Record<TermStep, number>> {
  const isOpen = term.status === 'Open';
  const reviews = useQuery({ ...reviewCountQuery, enabled: isOpen && mayUse('readings:read') });
  const trouble = useQuery({
    ...troubleCountQuery(term.termID),
    enabled: ['Distributing', 'Distributed'].includes(term.stage),
  });
  return {
    review: isOpen ? (reviews.data ?? 0) : 0,
    exceptions: isOpen ? summary.errors + summary.onHold : 0,
    send: trouble.data ?? 0,
  };
}
