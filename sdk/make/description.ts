// The description of the API, /openapi.json, as the packages for clients read it.
import { groupOf } from '../../src/http/api-groups.ts';
import { describeApi } from '../../src/http/openapi.ts';
import { operations } from '../../src/operations/catalogue.ts';

export type Schema = {
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  const?: unknown;
  items?: Schema;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
};

export type Described = {
  name: string;
  path: string;
  method: string;
  action: string;
  summary: string;
  group: string;
  isPublic: boolean;
  example: object;
  request: Schema;
  data: Schema;
};

/** Every operation with its schemas. The words of the call are left out: the clients send them. */
export function describedOperations(): Described[] {
  const { components } = describeApi(operations) as unknown as {
    components: { schemas: Record<string, Schema> };
  };
  return operations.map(([name, operation]) => {
    const { path, method, action, summary, access } = operation;
    const request = components.schemas[`${name}Request`] ?? {};
    const response = components.schemas[`${name}Response`];
    const words = ['method', 'action', 'apiVersion'];
    const fields = Object.entries(request.properties ?? {}).filter(([key]) => !words.includes(key));
    return {
      name,
      path,
      method,
      action,
      summary,
      group: groupOf(operation)?.name ?? 'Other',
      isPublic: access === 'public',
      example: operation.example as object,
      request: {
        type: 'object',
        properties: Object.fromEntries(fields),
        required: (request.required ?? []).filter((key) => !words.includes(key)),
      },
      data: response?.properties?.data ?? {},
    };
  });
}

export function isNullable(schema: Schema): boolean {
  return [schema.type ?? []].flat().includes('null') || (schema.enum?.includes(null) ?? false);
}

export function isRequired(schema: Schema, name: string): boolean {
  return schema.required?.includes(name) ?? false;
}
