// What changed between two forms of the same thing: one row per field, with the old and the new
// text. Also used for the audit trail.
import { ScrollArea, Table, Text } from '@mantine/core';
import { diffWordsWithSpace } from 'diff';
import { useTranslation } from 'react-i18next';

type Change = { path: string; before: string | null; after: string | null };

/** `{ rules: [{ component: 'gst', formula: '1' }] }` has the field `rules.gst.formula`. */
export function flat(value: unknown, path = '', into = new Map<string, string>()) {
  if (value === null || value === undefined || value === '') return into;
  if (typeof value !== 'object') return into.set(path, String(value));
  for (const [name, item] of entriesOf(value)) {
    flat(item, path === '' ? name : `${path}.${name}`, into);
  }
  return into;
}

function entriesOf(value: object): [string, unknown][] {
  if (!Array.isArray(value)) return Object.entries(value);
  const seen = new Map<string, number>();
  return value.map((item, index) => {
    const name = nameOf(item) ?? String(index + 1);
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return [count > 1 ? `${name} ${count}` : name, item];
  });
}

function nameOf(item: unknown): string | undefined {
  if (typeof item !== 'object' || item === null) return undefined;
  const { component, name, input, batchCode, title } = item as Record<string, unknown>;
  return [component, name, input, batchCode, title].find((one) => typeof one === 'string') as
    | string
    | undefined;
}

export function changesBetween(before: unknown, after: unknown): Change[] {
  const [old, now] = [flat(before), flat(after)];
  return [...new Set([...old.keys(), ...now.keys()])]
    .map((path) => ({ path, before: old.get(path) ?? null, after: now.get(path) ?? null }))
    .filter((change) => change.before !== change.after);
}

export function Changes({
  before,
  after,
  label,
}: {
  before: unknown;
  after: unknown;
  label: string;
}) {
  const { t } = useTranslation();
  const changes = changesBetween(before, after);
  if (changes.length === 0) return <Text c="dimmed">{t('changes.none')}</Text>;
  return (
    <ScrollArea.Autosize
      mah="60vh"
      viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': label }}
    >
      <Table aria-label={label} layout="fixed" miw={480}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('changes.field')}</Table.Th>
            <Table.Th>{t('changes.before')}</Table.Th>
            <Table.Th>{t('changes.after')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {changes.map((change) => (
            <Table.Tr key={change.path}>
              <Table.Td className="breaks">{change.path}</Table.Td>
              <Table.Td className="breaks">
                <Words {...change} side="removed" />
              </Table.Td>
              <Table.Td className="breaks">
                <Words {...change} side="added" />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollArea.Autosize>
  );
}

/** The text of one side. Words that the other side does not have are marked. */
function Words({ before, after, side }: Omit<Change, 'path'> & { side: 'removed' | 'added' }) {
  const own = side === 'removed' ? before : after;
  if (own === null) return null;
  if (before === null || after === null) return own;
  const Mark = side === 'removed' ? 'del' : 'ins';
  const other = side === 'removed' ? 'added' : 'removed';
  let at = 0;
  return diffWordsWithSpace(before, after)
    .filter((part) => !part[other])
    .map((part) => {
      at += part.value.length;
      return part[side] ? <Mark key={at}>{part.value}</Mark> : part.value;
    });
}
