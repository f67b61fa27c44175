/** The login of the demo workspace. It is in the README, so that it protects nothing. */
export const demoLogin = {
  workspace: 'demo',
  username: 'admin@demo.example',
  password: 'billwright-demo',
} as const;
