/**
 * What `make check` asks of TypeScript: typescript-eslint's strict set with types, and one layout. The layout is checked, and mended by `--fix`, by rules
 * and not by a printer that decides every line break: docs/decisions/0006 says why.
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
      // Messages are put together of numbers and flags all the time; what has no text of its own is still an error.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true, allowNullish: false }],
      // An interface may ask for a promise, or a generator of promises, of what has nothing to wait for.
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true }],
      // Callers state what goes to a thread and comes from it.
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
    // Bytes and columns by position, in the innermost loops and within bounds that the loop keeps: a question for undefined would cost there.
    files: [
      'sources/ade_cadastre/scan.ts', 'sources/anncsu_addresses/scan.ts', 'sources/egms_vertical/read.ts', 'pipelines/build/sweep-*.ts', 'sql/sections/*/sweep.ts',
    ],
    rules: { '@typescript-eslint/no-non-null-assertion': 'off' },
  },
  {
    // What is not there, or of another type, fails the test or the measurement in which it stands; matchers are of any type.
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
