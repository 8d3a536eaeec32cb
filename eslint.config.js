/**
 * ESLint rules of `make check` for TypeScript: typescript-eslint's strict type-checked set, and layout rules. `--fix` repairs the layout. No formatter decides
 * line breaks; docs/decisions/0006 explains why.
 */
import stylistic from '@stylistic/eslint-plugin';
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

export default defineConfig(
  {
    files: ['**/*.ts'],
    extends: [
      tseslint.configs.strictTypeChecked,
      stylistic.configs.customize({ semi: true, braceStyle: '1tbs', arrowParens: true, quoteProps: 'as-needed', jsx: false }),
    ],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      // Messages often contain numbers and flags. Objects that print as `[object Object]` are still an error.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true, allowNullish: false }],
      // An interface may require a promise, so a function may have to be async although the function awaits nothing.
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true }],
      // Enums are forbidden, so the rule on assignments to enums is off. The rule would take a sixth of the lint time.
      'no-restricted-syntax': ['error', { selector: 'TSEnumDeclaration', message: 'Use a union of string literals.' }],
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      // Callers give the types of a thread's input and output as type parameters.
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true }],
      '@stylistic/quotes': ['error', 'single', { avoidEscape: true, allowTemplateLiterals: 'avoidEscape' }],
      '@stylistic/max-len': ['error', { code: 160, ignoreUrls: true, ignoreStrings: true, ignoreTemplateLiterals: true, ignoreRegExpLiterals: true }],
      '@stylistic/multiline-ternary': 'off',
      '@stylistic/operator-linebreak': ['error', 'before', { overrides: { '=': 'after' } }],
      '@stylistic/generator-star-spacing': ['error', { before: false, after: true, method: 'before' }],
    },
  },
  {
    // The innermost loops read bytes and columns by position, within bounds that the loop ensures. Checks for undefined would slow the loops down.
    files: [
      'sources/ade_cadastre/scan.ts', 'sources/anncsu_addresses/scan.ts', 'sources/egms_vertical/read.ts', 'pipelines/build/sweep-*.ts', 'pipelines/formats/{decimal,kml-points}.ts',
      'sql/sections/*/sweep.ts',
    ],
    rules: { '@typescript-eslint/no-non-null-assertion': 'off' },
  },
  {
    // These rules are off, because a missing value or a different type makes the test or script fail, and Vitest's matchers have the type any.
    files: ['test/**/*.ts', '**/*.test.ts', 'scripts/**/*.ts'],
    rules: {
      '@typescript-eslint/no-base-to-string': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unnecessary-condition': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/restrict-template-expressions': 'off',
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/use-unknown-in-catch-callback-variable': 'off',
    },
  },
);
