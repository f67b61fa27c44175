// The way to the readings of a term for roles that do not see its bills.
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { inside, needs, textsIn } from './entry.tsx';

const readingTerms = createRoute({
  getParentRoute: () => inside,
  path: '/readings',
  component: lazyRouteComponent(
    () => import('../screens/readings/reading-terms.tsx'),
    'ReadingTerms',
  ),
  ...needs('readings:write'),
});

const readingTerm = createRoute({
  getParentRoute: () => inside,
  path: '/readings/$termID',
  validateSearch: textsIn('tab'),
  component: lazyRouteComponent(
    () => import('../screens/readings/reading-term.tsx'),
    'ReadingTermScreen',
  ),
  ...needs('readings:write'),
});

export const readingRoutes = [readingTerms, readingTerm];
