// One plan: its editor with a simulated bill beside it, and its versions.
import { Alert, Badge, Button, Fieldset, Grid, Group, Stack, Tabs, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import {
  type Plan,
  planQuery,
  readPlan,
  type Service,
  serviceQuery,
  trialQuery,
} from '../../api/queries/plans.ts';
import { mayUse } from '../../api/session.ts';
import { shownTime } from '../../parts/days.ts';
import { namesOf } from '../../parts/formula-language.ts';
import { Loading, Refusal } from '../../parts/notes.tsx';
import { Page } from '../../parts/page.tsx';
import { useUnsaved } from '../../parts/unsaved.ts';
import { Head } from './head.tsx';
import { Inputs } from './inputs.tsx';
import { Merge } from './merge.tsx';
import { draftOf, type PlanDraft } from './plan-draft.ts';
import { problemsIn } from './problems.ts';
import { Rules } from './rules.tsx';
import { SavePlan } from './save-plan.tsx';
import { scenarioOf, trialOf, usualScenario } from './scenario.ts';
import { TryIt } from './try-it.tsx';
import { Values } from './values.tsx';
import { Versions } from './versions.tsx';

export function PlanScreen() {
  const { planID } = useParams({ from: '/inside/plans/$planID' });
  const plan = useQuery(planQuery(Number(planID)));
  const service = useQuery({
    ...serviceQuery(plan.data?.serviceCode ?? ''),
    enabled: plan.data !== undefined,
  });
  const failed = [plan, service].find((query) => query.isLoadingError);
  if (failed) return <Refusal error={failed.error} onRetry={() => failed.refetch()} />;
  if (!plan.data || !service.data) return <Loading />;
  return <PlanPage key={planID} newest={plan.data} service={service.data} />;
}

/** `newest` may be younger than what the person edits: another one has saved. */
function PlanPage({ newest, service }: { newest: Plan; service: Service }) {
  const { t } = useTranslation();
  const [base, setBase] = useState(newest);
  const [theirs, setTheirs] = useState<Plan | null>(null);
  const form = useForm<PlanDraft>({ initialValues: draftOf(newest) });
  const isDirty = form.isDirty();
  useUnsaved(isDirty);

  /** From now on the form is a change of this version. */
  const begin = (plan: Plan, draft?: PlanDraft) => {
    const saved = draftOf(plan);
    setBase(plan);
    form.setInitialValues(saved);
    form.setValues(draft ?? saved);
  };
  const isOlder = newest.ts !== base.ts;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another version is a reason.
  useEffect(() => {
    if (isOlder && !isDirty) begin(newest);
  }, [newest.ts, isDirty]);

  return (
    <Page
      title={t('plan.title', { code: base.tariffCode })}
      hint={<PlanHint plan={base} />}
      crumbs={[{ label: t('plans.title'), to: '/plans' }]}
      actions={
        mayUse('plans:write') && (
          <SavePlan
            plan={base}
            draft={form.values}
            isDirty={isDirty}
            onSaved={async () => begin(await readPlan(base.tariffID))}
            onStale={async () => setTheirs(await readPlan(base.tariffID))}
          />
        )
      }
    >
      {isOlder && isDirty && (
        <Alert color="orange" title={t('merge.changed', { name: newest.modifiedBy })} role="status">
          <Button size="xs" variant="default" onClick={() => setTheirs(newest)}>
            {t('merge.see')}
          </Button>
        </Alert>
      )}
      <Merge
        base={base}
        mine={form.values}
        theirs={theirs}
        onClose={() => setTheirs(null)}
        onMerged={(plan, draft) => {
          setTheirs(null);
          begin(plan, draft);
        }}
      />
      <Tabs defaultValue="edit">
        <Tabs.List mb="md">
          <Tabs.Tab value="edit">{t('plan.edit')}</Tabs.Tab>
          <Tabs.Tab value="versions">{t('plan.versions')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="edit">
          <Editor form={form} plan={base} service={service} />
        </Tabs.Panel>
        <Tabs.Panel value="versions">
          <Versions plan={base} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}

function PlanHint({ plan }: { plan: Plan }) {
  const { t } = useTranslation();
  const { version = 1, effectiveDate, modifiedBy, modifiedAt } = plan;
  return (
    <Group gap="xs">
      <Badge variant="default">{t(`planType.${plan.planType}`)}</Badge>
      {plan.abstract === 1 && <Badge variant="default">{t('plan.abstract')}</Badge>}
      <Text span size="sm">
        {effectiveDate
          ? t('plan.versionFrom', { version, day: effectiveDate })
          : t('plan.version', { version })}
        {' · '}
        {t('plan.savedBy', { name: modifiedBy, time: shownTime(modifiedAt) })}
        {' · '}
        {t('plan.subscriptions', { count: plan.connCount })}
      </Text>
    </Group>
  );
}

type DraftForm = ReturnType<typeof useForm<PlanDraft>>;

function Editor({ form, plan, service }: { form: DraftForm; plan: Plan; service: Service }) {
  const isReadOnly = !mayUse('plans:write');
  const [inputs, setInputs] = useState(() => usualScenario(service));
  const scenario = scenarioOf(service, inputs);
  const [trial] = useDebouncedValue(trialOf(plan, form.values, scenario), 400);
  const tried = useQuery(trialQuery(trial));
  const problems = useMemo(() => problemsIn(tried.error), [tried.error]);
  const names = useMemo(() => namesOf(service), [service]);
  const shared = { form, service, names, problems, isReadOnly };
  return (
    <Grid>
      <Grid.Col span={{ base: 12, lg: 7 }}>
        <Fieldset variant="unstyled" disabled={isReadOnly}>
          <Stack>
            <Rules {...shared} />
            <Values {...shared} />
            <Inputs {...shared} />
            <Head {...shared} plan={plan} />
          </Stack>
        </Fieldset>
      </Grid.Col>
      <Grid.Col span={{ base: 12, lg: 5 }}>
        <TryIt
          service={service}
          inputs={inputs}
          onInputs={setInputs}
          tried={tried}
          problems={problems}
        />
      </Grid.Col>
    </Grid>
  );
}
