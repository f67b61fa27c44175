// The pages of the customer portal.
import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { currentSession, isCustomer } from '../api/session.ts';
import { followLink, root } from './entry.tsx';

/** The customer's pages. A login of the workspace's own people uses the console. */
const portal = createRoute({
  getParentRoute: () => root,
  path: '/portal',
  component: lazyRouteComponent(() => import('../portal/frame.tsx'), 'PortalFrame'),
  beforeLoad: ({ location }) => {
    followLink(location);
    if (!currentSession()) throw redirect({ to: '/login', search: { next: location.href } });
    if (!isCustomer()) throw redirect({ to: '/' });
  },
});

const portalHome = createRoute({
  getParentRoute: () => portal,
  path: '/',
  component: lazyRouteComponent(() => import('../portal/home.tsx'), 'PortalHome'),
});

const portalBills = createRoute({
  getParentRoute: () => portal,
  path: '/bills',
  component: lazyRouteComponent(() => import('../portal/bills.tsx'), 'PortalBills'),
});

const portalUsage = createRoute({
  getParentRoute: () => portal,
  path: '/usage',
  component: lazyRouteComponent(() => import('../portal/usage.tsx'), 'PortalUsage'),
});

const portalDetails = createRoute({
  getParentRoute: () => portal,
  path: '/details',
  component: lazyRouteComponent(() => import('../portal/details.tsx'), 'PortalDetails'),
});

export const portalRoutes = portal.addChildren([
  portalHome,
  portalBills,
  portalUsage,
  portalDetails,
]);
