// A field for one formula: colours, completion, and problems at their place. Until the editor has
// loaded, a plain field takes the text.
import { Input, Textarea } from '@mantine/core';
import { lazy, Suspense, useId } from 'react';
import type { FormulaName, FormulaProblem } from './formula-language.ts';

type Props = {
  label: string;
  value: string;
  onChange: (value: string) => void;
  names: readonly FormulaName[];
  problems: readonly FormulaProblem[];
  isReadOnly: boolean;
};

const Editor = lazy(() => import('./formula-editor.tsx'));

export function FormulaInput({ label, value, onChange, names, problems, isReadOnly }: Props) {
  const id = useId();
  const hasProblem = problems.length > 0;
  return (
    <Input.Wrapper
      label={label}
      labelElement="div"
      labelProps={{ id: `${id}-label` }}
      error={
        hasProblem && (
          <span id={`${id}-error`}>{problems.map(({ message }) => message).join(' ')}</span>
        )
      }
    >
      <Suspense
        fallback={
          <Textarea
            dir="ltr"
            autosize
            aria-labelledby={`${id}-label`}
            value={value}
            readOnly={isReadOnly}
            onChange={(event) => onChange(event.currentTarget.value)}
          />
        }
      >
        <Editor
          value={value}
          onChange={onChange}
          names={names}
          problems={problems}
          isReadOnly={isReadOnly}
          labelledBy={`${id}-label`}
          describedBy={hasProblem ? `${id}-error` : null}
        />
      </Suspense>
    </Input.Wrapper>
  );
}
