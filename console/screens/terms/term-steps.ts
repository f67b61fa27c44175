// The steps of a term as an operator does them, each with its page.
export const termSteps = [
  { path: 'population', key: 'population', permission: 'terms:read' },
  { path: 'readings', key: 'readings', permission: 'readings:read' },
  { path: 'review', key: 'review', permission: 'readings:review' },
  { path: 'values', key: 'values', permission: 'terms:write' },
  { path: 'generate', key: 'generate', permission: 'bills:read' },
  { path: 'exceptions', key: 'exceptions', permission: 'bills:read' },
  { path: 'register', key: 'register', permission: 'bills:read' },
  { path: 'send', key: 'send', permission: 'bills:read' },
] as const;

export type TermStep = (typeof termSteps)[number]['key'];
