// The pages of one term. What a page shows first is read while its program is loaded.
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { queries } from '../api/queries/base.ts';
import { billPages, billsOfTerm, heldQuery } from '../api/queries/bills.ts';
import { jobsQuery } from '../api/queries/jobs.ts';
import { populationCountsQuery, termQuery } from '../api/queries/terms.ts';
import { inside, needs, textsIn } from './entry.tsx';

type In = { params: { termID: string } };

const term = createRoute({
  getParentRoute: () => inside,
  path: '/terms/$termID',
  component: lazyRouteComponent(() => import('../screens/terms/term.tsx'), 'Term'),
  loader: ({ params }: In) => {
    const termID = Number(params.termID);
    queries.prefetchQuery(termQuery(termID));
    queries.prefetchQuery(jobsQuery({ termID }));
  },
  ...needs('bills:read'),
});

const termOverview = createRoute({
  getParentRoute: () => term,
  path: '/',
  validateSearch: textsIn('status'),
  component: lazyRouteComponent(() => import('../screens/terms/overview.tsx'), 'Overview'),
  loaderDeps: ({ search }: { search: { status?: string } }) => ({ status: search.status }),
  loader: ({ params, deps }: In & { deps: { status: string | undefined } }) => {
    queries.prefetchQuery(billPages(billsOfTerm(Number(params.termID), deps.status))(0));
  },
  ...needs('bills:read'),
});

const readingSheet = createRoute({
  getParentRoute: () => term,
  path: '/readings',
  component: lazyRouteComponent(() => import('../screens/readings/sheet.tsx'), 'ReadingSheet'),
  ...needs('readings:read'),
});

const readingEntry = createRoute({
  getParentRoute: () => term,
  path: '/entry',
  component: lazyRouteComponent(() => import('../screens/readings/entry.tsx'), 'ReadingEntry'),
  ...needs('readings:write'),
});

const readingReview = createRoute({
  getParentRoute: () => term,
  path: '/review',
  component: lazyRouteComponent(() => import('../screens/readings/review.tsx'), 'ReadingReview'),
  ...needs('readings:review'),
});

const population = createRoute({
  getParentRoute: () => term,
  path: '/population',
  validateSearch: textsIn('show'),
  component: lazyRouteComponent(() => import('../screens/terms/population.tsx'), 'Population'),
  loader: ({ params }: In) => {
    queries.prefetchQuery(populationCountsQuery(Number(params.termID)));
  },
  ...needs('terms:read'),
});

const manualValues = createRoute({
  getParentRoute: () => term,
  path: '/values',
  component: lazyRouteComponent(() => import('../screens/terms/values.tsx'), 'ManualValues'),
  ...needs('terms:write'),
});

const generate = createRoute({
  getParentRoute: () => term,
  path: '/generate',
  component: lazyRouteComponent(() => import('../screens/terms/generate.tsx'), 'Generate'),
  ...needs('bills:read'),
});

const exceptions = createRoute({
  getParentRoute: () => term,
  path: '/exceptions',
  component: lazyRouteComponent(() => import('../screens/terms/exceptions.tsx'), 'Exceptions'),
  loader: ({ params }: In) => {
    queries.prefetchQuery(heldQuery(Number(params.termID)));
  },
  ...needs('bills:read'),
});

const register = createRoute({
  getParentRoute: () => term,
  path: '/register',
  component: lazyRouteComponent(() => import('../screens/terms/register.tsx'), 'Register'),
  ...needs('bills:read'),
});

const send = createRoute({
  getParentRoute: () => term,
  path: '/send',
  component: lazyRouteComponent(() => import('../screens/terms/send.tsx'), 'Send'),
  ...needs('bills:read'),
});

export const termRoutes = term.addChildren([
  termOverview,
  readingSheet,
  readingEntry,
  readingReview,
  population,
  manualValues,
  generate,
  exceptions,
  register,
  send,
]);
