// What opens the console: log in, the frame of everything inside, and how a route names its filters
// and its permission.
import {
  createRootRoute,
  createRoute,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { currentSession, isCustomer, mayUse } from '../api/session.ts';
import { NotAllowed } from '../parts/no-screen.tsx';
import { ownPlaces } from '../parts/places.ts';

export const root = createRootRoute({ component: Outlet });

export const login = createRoute({
  getParentRoute: () => root,
  path: '/login',
  validateSearch: textsIn('next'),
  component: lazyRouteComponent(() => import('../screens/login/login.tsx'), 'Login'),
});

export const forgot = createRoute({
  getParentRoute: () => root,
  path: '/forgot',
  component: lazyRouteComponent(() => import('../screens/login/forgot.tsx'), 'Forgot'),
});

export const byLink = createRoute({
  getParentRoute: () => root,
  path: '/link',
  validateSearch: textsIn('link', 'reset'),
  component: lazyRouteComponent(() => import('../screens/login/by-link.tsx'), 'ByLink'),
});

/** Links of mails lead to `/?reset=…` and `/portal?link=…`. */
export function followLink({ search }: { search: unknown }): void {
  const found = textsIn('link', 'reset')(search as Record<string, unknown>);
  if (found.link ?? found.reset) throw redirect({ to: '/link', search: found });
}

/** Everything that needs a session. A visitor without one logs in and comes back. */
export const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  component: lazyRouteComponent(() => import('../parts/frame.tsx'), 'Frame'),
  beforeLoad: ({ location }) => {
    followLink(location);
    if (!currentSession()) throw redirect({ to: '/login', search: { next: location.href } });
    if (isCustomer()) throw redirect({ to: '/portal' });
    // A role that may not see the bill runs begins at the first place that it may open.
    const [first] = ownPlaces();
    if (location.pathname === '/' && first && first.to !== '/') throw redirect({ to: first.to });
  },
});

/** The permission of a screen, checked before it is shown. The server checks every call again. */
export function needs(permission: string) {
  return {
    staticData: { permission },
    beforeLoad: () => {
      if (!mayUse(permission)) throw new NotAllowed();
    },
  };
}

/** The named filters of a screen, kept in its address. */
export function textsIn<Name extends string>(...names: Name[]) {
  return (search: Record<string, unknown>): { [key in Name]?: string } => {
    const found = names.filter((name) => search[name] !== undefined && search[name] !== '');
    return Object.fromEntries(found.map((name) => [name, String(search[name])])) as never;
  };
}
