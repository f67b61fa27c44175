import * as Type from 'typebox';
import { empty } from '../fields.ts';
import { operation } from '../operation.ts';
import { linkedName, requestLink } from './link-fields.ts';

export const requestPasswordReset = operation({
  path: '/billing/auth/request-password-reset',
  method: 'Login',
  action: 'Request Password Reset',
  access: 'public',
  summary: 'Mails a link by which a login sets a new password once, within 30 minutes.',
  request: Type.Object({ username: linkedName }),
  response: empty,
  errors: [],
  example: { username: 'clerk@example.com' },
  handle: (call, body) => requestLink(call, body.username, 'Reset'),
});
