// The map of the console: each path, its screen, and the permission that opens it.
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { currentSession, isCustomer, mayUse, whenEnded } from './api/session.ts';
import { NotAllowed, NotFound } from './parts/no-screen.tsx';

const root = createRootRoute({ component: Outlet });

const login = createRoute({
  getParentRoute: () => root,
  path: '/login',
  validateSearch: textsIn('next'),
  component: lazyRouteComponent(() => import('./screens/login/login.tsx'), 'Login'),
});

const forgot = createRoute({
  getParentRoute: () => root,
  path: '/forgot',
  component: lazyRouteComponent(() => import('./screens/login/forgot.tsx'), 'Forgot'),
});

const byLink = createRoute({
  getParentRoute: () => root,
  path: '/link',
  validateSearch: textsIn('link', 'reset'),
  component: lazyRouteComponent(() => import('./screens/login/by-link.tsx'), 'ByLink'),
});

/** Links of mails lead to `/?reset=…` and `/portal?link=…`. */
function followLink({ search }: { search: unknown }): void {
  const found = textsIn('link', 'reset')(search as Record<string, unknown>);
  if (found.link ?? found.reset) throw redirect({ to: '/link', search: found });
}

/** Everything that needs a session. A visitor without one logs in and comes back. */
const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  component: lazyRouteComponent(() => import('./parts/frame.tsx'), 'Frame'),
  beforeLoad: ({ location }) => {
    followLink(location);
    if (!currentSession()) throw redirect({ to: '/login', search: { next: location.href } });
    if (isCustomer()) throw redirect({ to: '/portal' });
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

/** The named filters of a screen, kept in its address. */
function textsIn<Name extends string>(...names: Name[]) {
  return (search: Record<string, unknown>): { [key in Name]?: string } => {
    const found = names.filter((name) => search[name] !== undefined && search[name] !== '');
    return Object.fromEntries(found.map((name) => [name, String(search[name])])) as never;
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
  component: lazyRouteComponent(() => import('./screens/terms/term.tsx'), 'Term'),
  ...needs('bills:read'),
});

const termOverview = createRoute({
  getParentRoute: () => term,
  path: '/',
  validateSearch: textsIn('status'),
  component: lazyRouteComponent(() => import('./screens/terms/overview.tsx'), 'Overview'),
  ...needs('bills:read'),
});

const readingSheet = createRoute({
  getParentRoute: () => term,
  path: '/readings',
  component: lazyRouteComponent(() => import('./screens/readings/sheet.tsx'), 'ReadingSheet'),
  ...needs('readings:read'),
});

const readingEntry = createRoute({
  getParentRoute: () => term,
  path: '/entry',
  component: lazyRouteComponent(() => import('./screens/readings/entry.tsx'), 'ReadingEntry'),
  ...needs('readings:write'),
});

const readingReview = createRoute({
  getParentRoute: () => term,
  path: '/review',
  component: lazyRouteComponent(() => import('./screens/readings/review.tsx'), 'ReadingReview'),
  ...needs('readings:review'),
});

const population = createRoute({
  getParentRoute: () => term,
  path: '/population',
  validateSearch: textsIn('show'),
  component: lazyRouteComponent(() => import('./screens/terms/population.tsx'), 'Population'),
  ...needs('terms:read'),
});

const manualValues = createRoute({
  getParentRoute: () => term,
  path: '/values',
  component: lazyRouteComponent(() => import('./screens/terms/values.tsx'), 'ManualValues'),
  ...needs('terms:write'),
});

const generate = createRoute({
  getParentRoute: () => term,
  path: '/generate',
  component: lazyRouteComponent(() => import('./screens/terms/generate.tsx'), 'Generate'),
  ...needs('bills:read'),
});

const exceptions = createRoute({
  getParentRoute: () => term,
  path: '/exceptions',
  component: lazyRouteComponent(() => import('./screens/terms/exceptions.tsx'), 'Exceptions'),
  ...needs('bills:read'),
});

const register = createRoute({
  getParentRoute: () => term,
  path: '/register',
  component: lazyRouteComponent(() => import('./screens/terms/register.tsx'), 'Register'),
  ...needs('bills:read'),
});

const send = createRoute({
  getParentRoute: () => term,
  path: '/send',
  component: lazyRouteComponent(() => import('./screens/terms/send.tsx'), 'Send'),
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
  validateSearch: textsIn('name'),
  component: lazyRouteComponent(() => import('./screens/customers/customers.tsx'), 'Customers'),
  ...needs('parties:read'),
});

const customer = createRoute({
  getParentRoute: () => inside,
  path: '/customers/$partyNumber',
  validateSearch: textsIn('tab'),
  component: lazyRouteComponent(() => import('./screens/customers/customer.tsx'), 'Customer'),
  ...needs('parties:read'),
});

const subscriptions = createRoute({
  getParentRoute: () => inside,
  path: '/subscriptions',
  validateSearch: textsIn('number', 'service', 'status'),
  component: lazyRouteComponent(
    () => import('./screens/subscriptions/subscriptions.tsx'),
    'Subscriptions',
  ),
  ...needs('subscriptions:read'),
});

const subscription = createRoute({
  getParentRoute: () => inside,
  path: '/subscriptions/$connectionNumber',
  validateSearch: textsIn('tab'),
  component: lazyRouteComponent(
    () => import('./screens/subscriptions/subscription.tsx'),
    'Subscription',
  ),
  ...needs('subscriptions:read'),
});

const payments = createRoute({
  getParentRoute: () => inside,
  path: '/payments',
  validateSearch: textsIn('reference', 'from', 'to', 'status'),
  component: lazyRouteComponent(() => import('./screens/payments/payments.tsx'), 'Payments'),
  ...needs('payments:read'),
});

const payment = createRoute({
  getParentRoute: () => inside,
  path: '/payments/$paymentID',
  component: lazyRouteComponent(() => import('./screens/payments/payment.tsx'), 'Payment'),
  ...needs('payments:read'),
});

const cashDesk = createRoute({
  getParentRoute: () => inside,
  path: '/cash-desk',
  component: lazyRouteComponent(() => import('./screens/cash-desk/cash-desk.tsx'), 'CashDesk'),
  ...needs('payments:read'),
});

const bankFiles = createRoute({
  getParentRoute: () => inside,
  path: '/bank',
  component: lazyRouteComponent(() => import('./screens/bank/bank-files.tsx'), 'BankFiles'),
  ...needs('bank-files:read'),
});

const bankFile = createRoute({
  getParentRoute: () => inside,
  path: '/bank/$bankFileID',
  validateSearch: textsIn('status'),
  component: lazyRouteComponent(() => import('./screens/bank/bank-file.tsx'), 'BankFile'),
  ...needs('bank-files:read'),
});

const collections = createRoute({
  getParentRoute: () => inside,
  path: '/collections',
  validateSearch: textsIn('tab', 'step'),
  component: lazyRouteComponent(
    () => import('./screens/collections/collections.tsx'),
    'Collections',
  ),
  ...needs('collections:read'),
});

const ledger = createRoute({
  getParentRoute: () => inside,
  path: '/ledger',
  validateSearch: textsIn('tab', 'from', 'to', 'account'),
  component: lazyRouteComponent(() => import('./screens/ledger/ledger.tsx'), 'Ledger'),
  ...needs('ledger:read'),
});

const reports = createRoute({
  getParentRoute: () => inside,
  path: '/reports',
  validateSearch: textsIn('report', 'from', 'to', 'service'),
  component: lazyRouteComponent(() => import('./screens/reports/reports.tsx'), 'Reports'),
  ...needs('ledger:read'),
});

const plans = createRoute({
  getParentRoute: () => inside,
  path: '/plans',
  validateSearch: textsIn('service'),
  component: lazyRouteComponent(() => import('./screens/plans/plans.tsx'), 'Plans'),
  ...needs('plans:read'),
});

const plan = createRoute({
  getParentRoute: () => inside,
  path: '/plans/$planID',
  component: lazyRouteComponent(() => import('./screens/plans/plan.tsx'), 'PlanScreen'),
  ...needs('plans:read'),
});

const files = createRoute({
  getParentRoute: () => inside,
  path: '/files',
  component: lazyRouteComponent(() => import('./screens/files/files.tsx'), 'Files'),
  ...needs('meters:read'),
});

const settings = createRoute({
  getParentRoute: () => inside,
  path: '/settings',
  validateSearch: textsIn('tab'),
  component: lazyRouteComponent(() => import('./screens/settings/settings.tsx'), 'Settings'),
  ...needs('settings:read'),
});

const services = createRoute({
  getParentRoute: () => inside,
  path: '/services',
  component: lazyRouteComponent(() => import('./screens/services/services.tsx'), 'Services'),
  ...needs('contexts:read'),
});

const service = createRoute({
  getParentRoute: () => inside,
  path: '/services/$serviceCode',
  component: lazyRouteComponent(() => import('./screens/services/service.tsx'), 'ServiceScreen'),
  ...needs('contexts:read'),
});

/** The customer's pages. A login of the workspace's own people uses the console. */
const portal = createRoute({
  getParentRoute: () => root,
  path: '/portal',
  component: lazyRouteComponent(() => import('./portal/frame.tsx'), 'PortalFrame'),
  beforeLoad: ({ location }) => {
    followLink(location);
    if (!currentSession()) throw redirect({ to: '/login', search: { next: location.href } });
    if (!isCustomer()) throw redirect({ to: '/' });
  },
});

const portalHome = createRoute({
  getParentRoute: () => portal,
  path: '/',
  component: lazyRouteComponent(() => import('./portal/home.tsx'), 'PortalHome'),
});

const portalBills = createRoute({
  getParentRoute: () => portal,
  path: '/bills',
  component: lazyRouteComponent(() => import('./portal/bills.tsx'), 'PortalBills'),
});

const portalUsage = createRoute({
  getParentRoute: () => portal,
  path: '/usage',
  component: lazyRouteComponent(() => import('./portal/usage.tsx'), 'PortalUsage'),
});

const portalDetails = createRoute({
  getParentRoute: () => portal,
  path: '/details',
  component: lazyRouteComponent(() => import('./portal/details.tsx'), 'PortalDetails'),
});

export const router = createRouter({
  routeTree: root.addChildren([
    login,
    forgot,
    byLink,
    portal.addChildren([portalHome, portalBills, portalUsage, portalDetails]),
    inside.addChildren([
      terms,
      term.addChildren([
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
      ]),
      bill,
      customers,
      customer,
      subscriptions,
      subscription,
      payments,
      payment,
      cashDesk,
      bankFiles,
      bankFile,
      collections,
      ledger,
      reports,
      plans,
      plan,
      files,
      settings,
      services,
      service,
    ]),
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
