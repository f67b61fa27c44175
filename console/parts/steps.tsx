// The steps of a bill run: done, under way, next. Read aloud as a list.
import { Group, Text, ThemeIcon, Tooltip, VisuallyHidden } from '@mantine/core';
import { IconCheck, IconLoader2 } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';

/** In their order, each with the stages that mean: under way, done. */
const steps = [
  { key: 'readings', under: 'ReadingsUploaded', done: 'ReadingsPosted' },
  { key: 'values', under: '', done: 'ComponentsPosted' },
  { key: 'generate', under: 'Generating', done: 'Generated' },
  { key: 'post', under: 'Posting', done: 'Posted' },
  { key: 'publish', under: 'Publishing', done: 'Published' },
  { key: 'distribute', under: 'Distributing', done: 'Distributed' },
] as const;

export type StepKey = (typeof steps)[number]['key'];
type Progress = 'done' | 'under way' | 'open';

export function progressOf(stage: string): { key: StepKey; progress: Progress }[] {
  const reached = steps.findIndex(({ under, done }) => stage === under || stage === done);
  return steps.map(({ key, under }, index) => {
    if (index < reached) return { key, progress: 'done' };
    if (index > reached) return { key, progress: 'open' };
    return { key, progress: stage === under ? 'under way' : 'done' };
  });
}

export function Steps({
  stage,
  isStale,
  small = false,
}: {
  stage: string;
  isStale: boolean;
  small?: boolean;
}) {
  const { t } = useTranslation();
  return (
    <Group component="ol" gap={small ? 4 : 'md'} m={0} p={0} wrap="nowrap" role="list">
      {progressOf(stage).map(({ key, progress }, index) => {
        const shown = isStale && key === 'generate' ? 'again' : progress;
        const words = `${t(`steps.${key}`)}: ${t(`progress.${shown}`)}`;
        return (
          <Group component="li" key={key} gap={6} wrap="nowrap" style={{ listStyle: 'none' }}>
            <Tooltip label={words}>
              <ThemeIcon
                size={small ? 20 : 28}
                radius="xl"
                color={shown === 'again' ? 'orange' : shown === 'open' ? 'gray' : 'teal'}
                variant={shown === 'open' ? 'outline' : 'light'}
                aria-hidden
              >
                <StepSign progress={progress} number={index + 1} />
              </ThemeIcon>
            </Tooltip>
            {small ? (
              <VisuallyHidden>{words}</VisuallyHidden>
            ) : (
              <Text size="sm">
                {t(`steps.${key}`)}
                <VisuallyHidden>: {t(`progress.${shown}`)}</VisuallyHidden>
              </Text>
            )}
          </Group>
        );
      })}
    </Group>
  );
}

function StepSign({ progress, number }: { progress: Progress; number: number }) {
  if (progress === 'done') return <IconCheck size={14} />;
  if (progress === 'under way') return <IconLoader2 size={14} />;
  return <Text size="xs">{number}</Text>;
}
