// The map of the console: each path, its screen, and the permission that opens it.
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { currentSession, mayUse, whenEnded } from './api/session.ts';
import { Frame } from './parts/frame.tsx';
import { NotAllowed, NotFound } from './parts/no-screen.tsx';

const root = createRootRoute({ component: Outlet });

const login = createRoute({
  getParentRoute: () => root,
  path: '/login',
  validateSearch: textIn('next'),
  component: lazyRouteComponent(() => import('./screens/login/login.tsx'), 'Login'),
});

/** Everything that needs a session. A visitor without one logs in and comes back. */
const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  component: Frame,
  beforeLoad: ({ location }) => {
    if (!currentSession()) throw redirect({ to: '/login', search: { next: location.href } });
  },
});

/** The permission of a screen, checked before it is shown. The server checks every call again. */
function needs(permission: string) {
  return {
    staticData: { permission },
    beforeLoad: () => {
      if (!mayUse(permission)) throw new NotAllowed();
    },
  };
}

/** The named filter of a screen, kept in its address. */
function textIn<Name extends string>(name: Name) {
  return (search: Record<string, unknown>): { [key in Name]?: string } => {
    const value = search[name];
    return typeof value === 'string' && value !== '' ? ({ [name]: value } as never) : {};
  };
}

const terms = createRoute({
  getParentRoute: () => inside,
  path: '/',
  component: lazyRouteComponent(() => import('./screens/terms/terms.tsx'), 'Terms'),
  ...needs('terms:read'),
});

const term = createRoute({
  getParentRoute: () => inside,
  path: '/terms/$termID',
  validateSearch: textIn('status'),
  component: lazyRouteComponent(() => import('./screens/terms/term.tsx'), 'Term'),
  ...needs('bills:read'),
});

const bill = createRoute({
  getParentRoute: () => inside,
  path: '/bills/$billID',
  component: lazyRouteComponent(() => import('./screens/bills/bill.tsx'), 'Bill'),
  ...needs('bills:read'),
});

const customers = createRoute({
  getParentRoute: () => inside,
  path: '/customers',
  validateSearch: textIn('name'),
  component: lazyRouteComponent(() => import('./screens/customers/customers.tsx'), 'Customers'),
  ...needs('parties:read'),
});

const customer = createRoute({
  getParentRoute: () => inside,
  path: '/customers/$partyNumber',
  component: lazyRouteComponent(() => import('./screens/customers/customer.tsx'), 'Customer'),
  ...needs('parties:read'),
});

const payments = createRoute({
  getParentRoute: () => inside,
  path: '/payments',
  component: lazyRouteComponent(() => import('./screens/payments/payments.tsx'), 'Payments'),
  ...needs('payments:read'),
});

const plans = createRoute({
  getParentRoute: () => inside,
  path: '/plans',
  validateSearch: textIn('service'),
  component: lazyRouteComponent(() => import('./screens/plans/plans.tsx'), 'Plans'),
  ...needs('plans:read'),
});

const plan = createRoute({
  getParentRoute: () => inside,
  path: '/plans/$planID',
  component: lazyRouteComponent(() => import('./screens/plans/plan.tsx'), 'PlanScreen'),
  ...needs('plans:read'),
});

export const router = createRouter({
  routeTree: root.addChildren([
    login,
    inside.addChildren([terms, term, bill, customers, customer, payments, plans, plan]),
  ]),
  defaultPreload: 'intent',
  defaultNotFoundComponent: () => <NotFound />,
  defaultErrorComponent: ({ error }) => <NotFound error={error} />,
});

// After the next login the same page is shown.
whenEnded(() => {
  const { pathname, href } = router.state.location;
  if (pathname !== '/login') router.navigate({ to: '/login', search: { next: href } });
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
  interface StaticDataRouteOption {
    permission?: string;
  }
}
