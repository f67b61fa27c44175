import * as Type from 'typebox';
import { findSettings } from '../../domain/tenants/store.ts';
import { operation } from '../operation.ts';
import { presentSettings, settingsView } from './settings-fields.ts';

export const getSettings = operation({
  path: '/billing/settings/get-settings',
  method: 'Retrieve',
  action: 'Retrieve Settings',
  access: { permission: 'settings:read' },
  summary: 'Shows the settings of the workspace and its present time.',
  byKey: () => true,
  request: Type.Object({}),
  response: Type.Object({ settings: settingsView }),
  errors: [],
  example: {},
  async handle(call) {
    const row = await findSettings(call.tx, call.tenant.tenantId);
    return { message: 'Settings', data: { settings: presentSettings(row, call.now) } };
  },
});
