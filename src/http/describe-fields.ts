// Every field of the API has a description: its own, or the one that its name has everywhere.
import { accessWords } from './field-words/access.ts';
import { billWords } from './field-words/bills.ts';
import { moneyWords } from './field-words/money.ts';
import { peopleWords } from './field-words/people.ts';
import { planWords } from './field-words/plans.ts';

type Schema = {
  description?: string;
  const?: unknown;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  allOf?: Schema[];
  oneOf?: Schema[];
  patternProperties?: Record<string, Schema>;
};

export const fieldWords: ReadonlyMap<string, string> = new Map(
  [peopleWords, planWords, billWords, moneyWords, accessWords].flatMap((words) =>
    Object.entries(words),
  ),
);

/** Adds what is missing, in place. `parent` is the field or operation that the schema is of. */
export function describeFields(schema: Schema, parent: string): void {
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    if (!isDescribed(field)) {
      const words = fieldWords.get(`${parent}.${name}`) ?? fieldWords.get(name);
      if (words !== undefined) field.description = words;
    }
    describeFields(field, name);
  }
  for (const part of [schema.anyOf, schema.allOf, schema.oneOf].flatMap((parts) => parts ?? [])) {
    describeFields(part, parent);
  }
  if (schema.items) describeFields(schema.items, parent);
  for (const part of Object.values(schema.patternProperties ?? {})) describeFields(part, parent);
}

/** A fixed word explains itself. */
export function isDescribed(field: Schema): boolean {
  return (
    field.description !== undefined ||
    field.const !== undefined ||
    (field.anyOf ?? []).some(({ description }) => description !== undefined)
  );
}
