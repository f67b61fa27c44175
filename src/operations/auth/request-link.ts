import * as Type from 'typebox';
import { empty } from '../fields.ts';
import { operation } from '../operation.ts';
import { linkedName, requestLink as request } from './link-fields.ts';

export const requestLink = operation({
  path: '/billing/auth/request-link',
  method: 'Login',
  action: 'Request Link',
  access: 'public',
  summary: 'Mails a customer a link to the portal that works once, for 15 minutes.',
  request: Type.Object({ username: linkedName }),
  response: empty,
  errors: [],
  example: { username: 'asma@example.com' },
  handle: (call, body) => request(call, body.username, 'Login'),
});
